import Crypto
import TablesProtocol

/// A user whom the backend knows, whose rows and operations a store holds.
package struct Identity: Sendable, Hashable {
    /// Its key: what `?identity=` says, and the name of its store's folder. Equal exactly for equal
    /// issuers and subjects, and safe as a name.
    package let key: String

    /// The key of requests without a credential.
    package static let anonymousKey = "anonymous"

    /// Who owns a token that the backend took: the issuer with the first there is of the claims
    /// `sub` and `uid`, the login's user id, and the token's fingerprint.
    init(_ token: Token, userID: String? = nil) {
        let claims = token.claims
        let issuer = claims?["iss"]?.string ?? ""
        let given = [
            ("sub", claims?["sub"]?.string), ("uid", claims?["uid"]?.string), ("user", userID),
        ]
        for case (let kind, let subject?) in given where !subject.isEmpty {
            self.init(issuer: issuer, kind: kind, subject: subject)
            return
        }
        self.init(issuer: issuer, kind: "token", subject: token.fingerprint)
    }

    /// A key as it was kept.
    init(key: String) { self.key = key }

    /// Whether a text can be a key, and so the name of a folder: small letters, digits and dashes.
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

    /// A readable beginning, then what tells it from all others.
    private init(issuer: String, kind: String, subject: String) {
        let words = subject.lowercased().unicodeScalars.map { scalar -> Character in
            switch scalar {
            case "a"..."z", "0"..."9": Character(scalar)
            default: "-"
            }
        }
        let readable = String(words).split(separator: "-").joined(separator: "-")
        let whole = SHA256.hex("\(issuer.utf8.count):\(issuer)\(kind):\(subject)")
        let beginning = kind == "token" || readable.isEmpty ? "user" : String(readable.prefix(40))
        key = "\(beginning)-\(whole.prefix(24))"
    }
}

extension SHA256 {
    /// The digest of a text in lower case hexadecimal digits: what may be kept of a secret.
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
