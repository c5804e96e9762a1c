import Crypto
import CryptoExtras
import TablesProtocol

/// A key that verifies signatures of one algorithm.
struct TokenKey: Sendable {
    private enum Material: Sendable {
        case shared(SymmetricKey)
        case rsa(_RSA.Signing.PublicKey)
        case curve(P256.Signing.PublicKey)
    }

    /// Its name among the issuer's keys (`kid`); nil when it has none.
    let id: String?
    private let material: Material

    /// A shared secret for HS256. Like its hash it has at least 32 bytes (RFC 7518, section 3.2).
    init?(shared bytes: [UInt8]) {
        guard bytes.count >= Limits.sharedKeyBytes else { return nil }
        id = nil
        material = .shared(SymmetricKey(data: bytes))
    }

    /// A key of a JWK set (RFC 7517, section 4) for RS256 or ES256; nil for any other.
    private init?(_ member: JSONValue) {
        if let use = member["use"]?.string, use != "sig" { return nil }
        id = member["kid"]?.string
        let algorithm = member["alg"]?.string
        func bytes(_ name: String) -> [UInt8]? {
            member[name]?.string.flatMap { Base64.decoded($0) }
        }
        switch member["kty"]?.string {
        case "RSA" where algorithm == nil || algorithm == "RS256":
            guard let modulus = bytes("n"), let exponent = bytes("e"),
                let key = try? _RSA.Signing.PublicKey(n: modulus, e: exponent),
                key.keySizeInBits >= Limits.rsaKeyBits
            else { return nil }
            material = .rsa(key)
        case "EC" where algorithm == nil || algorithm == "ES256":
            guard member["crv"]?.string == "P-256", let x = bytes("x"), let y = bytes("y"),
                x.count == 32, y.count == 32,
                let key = try? P256.Signing.PublicKey(x963Representation: [4] + x + y)
            else { return nil }
            material = .curve(key)
        case _: return nil
        }
    }

    /// The keys of a JWK set (RFC 7517, section 5) that are for RS256 or ES256; nil for what is no set.
    static func set(parsing bytes: [UInt8]) -> [TokenKey]? {
        guard let set = try? JSONValue(parsing: bytes), let keys = set["keys"]?.array else {
            return nil
        }
        return keys.compactMap { TokenKey($0) }
    }

    /// Whether the signature of a token is one by this key. The key decides the algorithm, and not the
    /// token: a public key never serves as the secret of HS256.
    func verifies(_ token: SignedToken) -> Bool {
        if let wanted = token.keyID, let id, wanted != id { return false }
        switch (material, token.algorithm) {
        case (.shared(let key), .hs256):
            return HMAC<SHA256>.isValidAuthenticationCode(
                token.signature, authenticating: token.signedBytes, using: key)
        case (.rsa(let key), .rs256):
            return key.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: token.signature),
                for: token.signedBytes, padding: .insecurePKCS1v1_5)
        case (.curve(let key), .es256):
            guard
                let signature = try? P256.Signing.ECDSASignature(
                    rawRepresentation: token.signature)
            else { return false }
            return key.isValidSignature(signature, for: token.signedBytes)
        case (.shared, _), (.rsa, _), (.curve, _): return false
        }
    }

    /// The signature by a shared secret; nil for a key that only verifies.
    func sign(_ bytes: [UInt8]) -> [UInt8]? {
        guard case .shared(let key) = material else { return nil }
        return Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key))
    }
}

/// A secret that is kept as its hash, and compared in a time that says nothing about it.
struct SecretDigest: Sendable {
    private let digest: SHA256.Digest

    init(_ secret: some StringProtocol) { digest = SHA256.hash(data: Array(secret.utf8)) }

    func isSecret(_ text: some StringProtocol) -> Bool {
        SHA256.hash(data: Array(text.utf8)) == digest
    }
}
