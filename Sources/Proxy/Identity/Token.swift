import Crypto
import HTTPMessage
import HTTPTypes
import SyncCore
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
        /// The backend cannot be reached.
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
                if [502, 503, 504].contains(with) { return .unreachable }
                guard (200..<300).contains(with) else { return .unproven }
                return try await status(nil, table, generation) == 401 ? .good : .unproven
            }
            return .unproven
        } catch {
            return .unreachable
        }
    }

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
        return try await transport.send(Request(head: head)).head.status.code
    }
}
