import Crypto
import HTTPMessage
import HTTPTypes
import TablesProtocol

/// A client's token. It is in memory only; disk, log and pages get at most its fingerprint.
struct Token: Sendable, Hashable {
    /// The header field as the client sends it, and as the backend gets it.
    let field: HTTPField
    /// The token alone, without `Bearer`.
    let text: String

    /// The token of a request: `X-ZUMO-AUTH`, or for the third generation `Authorization: Bearer`. In other
    /// generations `Authorization` is no token of the backend, and may have a secret that the backend must
    /// not get.
    init?(_ fields: HTTPFields, generation: Generation) {
        if let text = fields[.zumoAuth], !text.isEmpty {
            self.text = text
            field = HTTPField(name: .zumoAuth, value: text)
            return
        }
        guard generation == .datasync, let value = fields[.authorization],
            let text = BearerCredential.token(value)
        else { return nil }
        self.text = text
        field = HTTPField(name: .authorization, value: value)
    }

    /// The token of a login's answer.
    init(login text: String) {
        self.text = text
        field = HTTPField(name: .zumoAuth, value: text)
    }

    /// The token of a field that an engine sends.
    init(of field: HTTPField) {
        text = field.value.split(separator: " ").last.map(String.init) ?? ""
        self.field = field
    }

    /// SHA-256 of the token in hexadecimal digits, which may be written to disk.
    var fingerprint: String { SHA256.hex(text) }

    /// The claims if the token is a JWT (RFC 7519). Its signature is not checked: the caller must know that
    /// the backend has accepted the token.
    var claims: JSONValue? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64.decoded(parts[1]),
            let claims = try? JSONValue(parsing: bytes), case .object = claims
        else { return nil }
        return claims
    }

    /// The claim `exp` (RFC 7519, section 4.1.4); nil without a valid one.
    var expiresAt: Instant? {
        guard let seconds = claims?["exp"].flatMap(Self.wholeSeconds) else { return nil }
        let (milliseconds, isBig) = Int64(seconds).multipliedReportingOverflow(by: 1000)
        return isBig ? nil : Instant(milliseconds: milliseconds)
    }

    /// The whole seconds of a time, without its fraction (RFC 7519, section 2); nil if it is no number.
    private static func wholeSeconds(_ value: JSONValue) -> Int64? {
        guard case .number(let number) = value else { return nil }
        let text = number.description
        if let whole = number.integer { return whole }
        return text.lowercased().contains("e") ? nil : Int64(text.prefix { $0 != "." })
    }
}

extension HTTPField.Name {
    static let zumoAuth = known("X-ZUMO-AUTH")
}

/// The credential of an `Authorization: Bearer` field (RFC 6750).
enum BearerCredential {
    /// The token in a field's value: the scheme in any case, then spaces and tabs, then one word. Nil for
    /// every other value, such as that of two joined fields.
    static func token(_ value: String) -> String? {
        let words = value.utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard words.count == 2, Substring(words[0]).lowercased() == "bearer" else { return nil }
        return String(Substring(words[1]))
    }
}
