import Crypto
import TablesProtocol

/// A user of the backend. Each identity has a store.
package struct Identity: Sendable, Hashable {
    /// The key: the value of `?identity=` and the name of the store's folder. It is equal exactly for equal
    /// issuers and subjects, and a valid file name.
    package let key: String

    /// The key of requests without a credential.
    package static let anonymousKey = "anonymous"

    /// The owner of a token that the backend has accepted. It is named by the issuer, with the claim `sub`,
    /// else the claim `uid`, else the login's user id, else the token's fingerprint.
    init(_ token: Token, userID: String? = nil) {
        let issuer = token.claims?["iss"]?.string ?? ""
        if let (kind, subject) = Self.subject(token, userID) {
            self.init(issuer: issuer, kind: kind, subject: subject)
        } else {
            self.init(issuer: issuer, kind: "token", subject: token.fingerprint)
        }
    }

    /// The id that the backend gives the owner of a token; nil if nothing says it.
    static func user(_ token: Token, userID: String?) -> String? {
        Self.subject(token, userID)?.text
    }

    private static func subject(_ token: Token, _ userID: String?) -> (kind: String, text: String)?
    {
        let claims = token.claims
        let given = [
            ("sub", claims?["sub"]?.string), ("uid", claims?["uid"]?.string), ("user", userID),
        ]
        for case (let kind, let text?) in given where !text.isEmpty { return (kind, text) }
        return nil
    }

    /// The identity with a stored key.
    init(key: String) { self.key = key }

    /// Whether a text can be a key, and so the name of a folder: lower case letters, digits and dashes.
    package static func isKey(_ text: String) -> Bool {
        (1...Limits.identityKeyBytes).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// Makes the key: a readable name, a dash, and the beginning of a hash of all three values.
    private init(issuer: String, kind: String, subject: String) {
        let words = subject.lowercased().unicodeScalars.map { scalar -> Character in
            switch scalar {
            case "a"..."z", "0"..."9": Character(scalar)
            default: "-"
            }
        }
        let readable = String(words).split(separator: "-").joined(separator: "-")
        let whole = SHA256.hex("\(issuer.utf8.count):\(issuer)\(kind):\(subject)")
        let beginning =
            kind == "token" || readable.isEmpty
            ? "user"
            : String(readable.prefix(Limits.identityNameBytes))
        key = "\(beginning)-\(whole.prefix(Limits.identityHashDigits))"
    }
}

extension SHA256 {
    /// The digest of a text in lower case hexadecimal digits. A file may hold it in the place of a secret.
    static func hex(_ text: String) -> String { hash(data: Array(text.utf8)).hexadecimal }
}

extension Sequence<UInt8> {
    /// Two lower case digits for each byte.
    var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
