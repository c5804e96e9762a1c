import Digests
import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

/// A user of the backend. Each identity has a store.
package struct Identity: Sendable, Hashable {
    /// The key: the value of `?identity=` and the name of the store's folder. It is equal exactly for equal
    /// issuers and subjects, and a valid file name.
    package let key: String

    /// The key of requests without a credential.
    package static let anonymousKey = Store.anonymous

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
    static func hex(_ text: String) -> String { hash(Array(text.utf8)).hexadecimal }
}

extension Sequence<UInt8> {
    /// Two lower case digits for each byte.
    var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

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

/// Asks the backend whether a token belongs to a user: a list of the table that the client wants must be
/// refused without the token and given with it. Both requests only read.
struct TokenVerifier: Sendable {
    let backend: BackendAddress
    let transport: any HTTPTransport
    let applicationKey: ApplicationKey

    enum Verdict: Sendable {
        /// It belongs to a user.
        case good
        /// The backend answers 401 to it.
        case refused
        /// The table needs no token, or the answer is another one; neither proves anything.
        case unproven
        case unreachable
    }

    /// Asks the backend in its generation. If that is not known, in the client's, and if that is refused
    /// with 400 in the others.
    /// - Parameters:
    ///   - client: the client's generation.
    ///   - backend: the backend's generation; nil if it is not known.
    func verdict(
        _ token: Token, _ table: TableName, client: Generation, backend: Generation?
    ) async -> Verdict {
        let others = Generation.allCases.filter { $0 != client }
        do throws(TransportError) {
            for generation in backend.map({ [$0] }) ?? [client] + others {
                let with = try await status(token, table, generation)
                if with == 400, backend == nil { continue }
                if with == 401 { return .refused }
                if with == 503 { return .unreachable }
                guard (200..<300).contains(with) else { return .unproven }
                return try await status(nil, table, generation) == 401 ? .good : .unproven
            }
            return .unproven
        } catch {
            return .unreachable
        }
    }

    /// The status of the answer; 503 for every one that says "later", or is a gateway's.
    private func status(
        _ token: Token?, _ table: TableName, _ generation: Generation
    ) async throws(TransportError) -> Int {
        var head = HTTPRequest(
            method: .get, scheme: backend.scheme, authority: backend.authority,
            path: "\(backend.prefix)/tables/\(table)?$top=1")
        head.headerFields[.accept] = "application/json"
        Dialect.mark(&head.headerFields, as: generation, key: applicationKey.text)
        for field in token?.field.token(for: generation) ?? [] {
            head.headerFields[field.name] = field.value
        }
        let answer = try await transport.send(Request(head: head)).head
        return Later.isOfGateway(answer) ? 503 : answer.status.code
    }
}
