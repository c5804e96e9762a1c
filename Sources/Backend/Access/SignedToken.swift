import TablesProtocol

/// A JSON Web Token (RFC 7519) in the compact form (RFC 7515, section 7.1), parsed. Nothing of it is
/// verified yet.
struct SignedToken: Sendable {
    /// The algorithms that are known (RFC 7518, section 3.1). `none` is none of them.
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

/// Why a token is refused, as a sentence that holds nothing of the token.
enum TokenRefusal: String, Error, Sendable, Hashable, CaseIterable {
    case malformed = "The token is not a JSON Web Token."
    case algorithm = "The token's algorithm is not HS256, RS256 or ES256."
    case issuer = "The token's issuer is not known here."
    case signature = "The token's signature is not that of its issuer."
    case audience = "The token is for another audience."
    case noExpiry = "The token does not say when it expires."
    case expired = "The token has expired."
    case early = "The token does not hold yet."
    case user = "The token does not say who the user is."
}
