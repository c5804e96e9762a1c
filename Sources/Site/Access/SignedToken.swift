import Backend
import Digests
import Signatures
import TablesProtocol

/// A JSON Web Token (RFC 7519) in the compact form (RFC 7515, section 7.1), parsed. Nothing of it is
/// verified yet.
struct SignedToken: Sendable {
    /// The algorithms that are known (RFC 7518, section 3.1). `none` is not among them.
    enum Algorithm: String, Sendable, Hashable {
        case hs256 = "HS256"
        case rs256 = "RS256"
        case es256 = "ES256"
    }

    /// The algorithm of the signature.
    let algorithm: Algorithm
    /// The id of the issuer's key of the signature (`kid`); nil when the token does not name it.
    let keyID: String?
    /// The claims.
    let claims: JSONValue
    /// The bytes that are signed: the first two parts as they came, with the dot between them.
    let signedBytes: [UInt8]
    /// The signature.
    let signature: [UInt8]

    /// Parses a token.
    /// - Throws: ``TokenRefusal`` for what is no token, and for an algorithm that is not known.
    init(_ text: String) throws(TokenRefusal) {
        guard text.utf8.count <= Limits.tokenBytes else { throw .malformed }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Self.object(parts[0]),
            let claims = Self.object(parts[1]), let signature = Self.bytes(parts[2])
        else { throw .malformed }
        guard let algorithm = head["alg"]?.string.flatMap(Algorithm.init) else {
            throw .algorithm
        }
        // Members that must be understood, none of which is (RFC 7515, section 4.1.11).
        if head["crit"] != nil { throw .malformed }
        self.algorithm = algorithm
        keyID = head["kid"]?.string
        self.claims = claims
        self.signature = signature
        signedBytes = Array("\(parts[0]).\(parts[1])".utf8)
    }

    private static func object(_ part: Substring) -> JSONValue? {
        guard let bytes = bytes(part), let value = try? JSONValue(parsing: bytes),
            case .object = value
        else { return nil }
        return value
    }

    /// Base64url without padding, and nothing else.
    private static func bytes(_ part: Substring) -> [UInt8]? {
        let isURLAlphabet = part.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            case _: false
            }
        }
        return isURLAlphabet ? Base64.decoded(part) : nil
    }

    /// The text of a token.
    /// - Parameter sign: the signature of these bytes.
    static func text(
        _ algorithm: Algorithm, _ claims: JSONValue, sign: ([UInt8]) -> [UInt8]
    ) -> String {
        let head = JSONValue.object([
            .init("alg", .string(algorithm.rawValue)), .init("typ", .string("JWT")),
        ])
        let signed = [head, claims].map { Base64.encodedForURL($0.text.utf8) }
            .joined(separator: ".")
        return "\(signed).\(Base64.encodedForURL(sign(Array(signed.utf8))))"
    }
}

/// A key that verifies signatures of one algorithm.
struct TokenKey: Sendable {
    private enum Material: Sendable {
        case shared([UInt8])
        case rsa(VerifyingKey)
        case curve(VerifyingKey)
    }

    /// Its name among the issuer's keys (`kid`); nil when it has none.
    let id: String?
    private let material: Material

    /// A shared secret for HS256. Like its hash it has at least 32 bytes (RFC 7518, section 3.2).
    init?(shared bytes: [UInt8]) {
        guard bytes.count >= Limits.sharedKeyBytes else { return nil }
        id = nil
        material = .shared(bytes)
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
                let key = VerifyingKey(
                    modulus: modulus, exponent: exponent,
                    bits: Limits.rsaKeyBits...Limits.rsaKeyBitsMax)
            else { return nil }
            material = .rsa(key)
        case "EC" where algorithm == nil || algorithm == "ES256":
            guard member["crv"]?.string == "P-256", let x = bytes("x"), let y = bytes("y"),
                let key = VerifyingKey(x: x, y: y)
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
            let code = MessageCode(of: token.signedBytes, key: key)
            return areEqualInConstantTime(code.bytes, token.signature)
        case (.rsa(let key), .rs256), (.curve(let key), .es256):
            return key.verifies(token.signature, of: token.signedBytes)
        case (.shared, _), (.rsa, _), (.curve, _): return false
        }
    }

    /// The signature by a shared secret; nil for a key that only verifies.
    func sign(_ bytes: [UInt8]) -> [UInt8]? {
        guard case .shared(let key) = material else { return nil }
        return MessageCode(of: bytes, key: key).bytes
    }
}

/// A secret that is kept as its hash, and compared in a time that says nothing about it.
struct SecretDigest: Sendable {
    private let digest: [UInt8]

    init(_ secret: some StringProtocol) { digest = SHA256.hash(Array(secret.utf8)) }

    func isSecret(_ text: some StringProtocol) -> Bool {
        areEqualInConstantTime(SHA256.hash(Array(text.utf8)), digest)
    }
}

/// An issuer whose tokens are accepted, with the claims that they must have.
struct TokenIssuer: Sendable {
    /// The name by which clients log in with it, and with which the ids of its users begin; nil for this
    /// site itself.
    let name: String?
    /// The claim `iss`.
    let issuer: String
    /// The accepted values of the claim `aud`.
    let audiences: Set<String>
    /// The keys of the signatures.
    let keys: [TokenKey]
    /// The claim that says who the user is.
    let userClaim: String

    /// The user of a token of this issuer.
    /// - Parameters:
    ///   - token: a token that names this issuer.
    ///   - now: seconds since 1970.
    ///   - skew: by how many seconds the issuer's clock and this one may differ.
    func user(
        _ token: SignedToken, now: Double, skew: Double
    ) throws(TokenRefusal) -> VerifiedUser {
        guard keys.contains(where: { $0.verifies(token) }) else { throw .signature }
        let claims = token.claims
        let named = claims["aud"]?.array ?? [claims["aud"] ?? .null]
        guard named.contains(where: { $0.string.map(audiences.contains) ?? false }) else {
            throw .audience
        }
        guard let end = claims["exp"] else { throw .noExpiry }
        guard let seconds = Self.seconds(end) else { throw .malformed }
        if now >= seconds + skew { throw .expired }
        for name in ["nbf", "iat"] {
            guard let start = claims[name] else { continue }
            guard let seconds = Self.seconds(start) else { throw .malformed }
            if now < seconds - skew { throw .early }
        }
        guard let subject = claims[userClaim]?.string, !subject.isEmpty else { throw .user }
        // The whole id is the subject of a token that a login makes, so it has the limits of one.
        let id = name.map { "\($0):\(subject)" } ?? subject
        guard Self.isName(id) else { throw .user }
        return VerifiedUser(
            id: id, provider: name ?? claims["idp"]?.string ?? "", claims: claims)
    }

    /// Seconds since 1970 (RFC 7519, section 2); nil for what is no such number.
    private static func seconds(_ value: JSONValue) -> Double? {
        guard case .number(let number) = value, let seconds = Double(number.text),
            seconds.isFinite
        else { return nil }
        return seconds
    }

    private static func isName(_ text: String) -> Bool {
        (1...Limits.userBytes).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}
