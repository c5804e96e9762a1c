public import HTTPTypes
import Storage
public import TablesProtocol

/// The credential for requests to the backend.
public enum Credential: Sendable, Hashable {
    /// No token: the anonymous identity.
    case none
    /// The header field that carries the identity's token, as its client sent it.
    case token(HTTPField)
    /// The identity's token is not known, for example after a restart. Nothing is sent until its user signs
    /// in.
    case missing
}

extension HTTPField {
    /// A client's token in the fields that servers of a generation read: `X-ZUMO-AUTH` in the first two,
    /// `Authorization: Bearer` in the third, whose apps may also read the older field.
    public func token(for generation: Generation) -> [HTTPField] {
        let bearer = "bearer "
        switch generation {
        case .mobileServices, .mobileApps:
            guard name == .authorization, value.lowercased().hasPrefix(bearer) else {
                return [self]
            }
            let text = value.dropFirst(bearer.utf8.count).drop { $0 == " " }
            return [HTTPField(name: .zumoAuth, value: String(text))]
        case .datasync:
            guard name == .zumoAuth else { return [self] }
            return [self, HTTPField(name: .authorization, value: "Bearer \(value)")]
        }
    }
}

/// The name of a client's header field that may be forwarded (`--forward-header`).
///
/// Not allowed are fields that belong to one connection or one message, that carry credentials, that state
/// a condition, or that Understudy itself reads or writes: in another request they would mean something
/// else.
public struct ForwardableName: Sendable, Hashable {
    public let name: HTTPField.Name

    /// Reads a name; nil if it is not a token or may not be forwarded.
    public init?(_ text: String) {
        guard let name = HTTPField.Name(text), !Self.isRefused(name.canonicalName) else {
            return nil
        }
        self.name = name
    }

    /// The rule for names, for an error message.
    public static let allowed =
        "the name of a header field of the client's own, such as X-Tenant: not one of the connection or "
        + "the message (Host, Content-…, Transfer-Encoding, Connection), not one that signs in "
        + "(Authorization, Cookie, Referer, X-ZUMO-AUTH, X-ZUMO-APPLICATION), not a condition (If-…), and none "
        + "that Understudy sends itself (ZUMO-API-VERSION, Idempotency-Key, traceparent, tracestate, Understudy-…)"

    /// Whether an operator may set no field of this name. `Authorization` may be one of a gateway.
    public static func isReserved(_ name: HTTPField.Name) -> Bool {
        name != .authorization && isRefused(name.canonicalName)
    }

    private static func isRefused(_ name: String) -> Bool {
        refused.contains(name) || refusedBeginnings.contains { name.hasPrefix($0) }
    }

    private static let refused: Set<String> = [
        // Fields of the connection and the message (RFC 9110, 7.6.1).
        "host", "connection", "keep-alive", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade", "expect", "max-forwards", "http2-settings",
        // Fields that carry credentials.
        "authorization", "proxy-authorization", "proxy-authenticate", "www-authenticate", "cookie",
        "set-cookie", "referer", "x-zumo-auth", "x-zumo-application", "x-zumo-master",
        // Fields that change the answer.
        "range", "accept", "accept-encoding", "origin", "x-http-method-override",
        // Fields that Understudy itself reads or writes.
        "zumo-api-version", "x-zumo-options", "idempotency-key", "traceparent", "tracestate",
        "prefer",
    ]
    private static let refusedBeginnings = [
        "content-", "if-", "sec-", "access-control-", "understudy-",
    ]
}

/// The header fields of a request or an answer as an attempt records them: one line each, without secrets.
enum RecordedFields {
    private static let secret: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "set-cookie", "x-zumo-auth",
        "x-zumo-application", "x-zumo-master", "x-functions-key", "api-key",
    ]
    /// Parts of a name that mark its value as a secret.
    private static let secretParts =
        ["token", "secret", "password", "credential", "subscription-key"].map { Array($0.utf8) }

    /// `Name: value`, cut to ``SyncLimits/recordedFields`` lines; a secret's value is left out.
    static func lines(_ fields: HTTPFields) -> [String] {
        fields.prefix(SyncLimits.recordedFields).map { field in
            let name = field.name.rawName
            guard !isSecret(name.lowercased()) else { return "\(name): (kept secret)" }
            return "\(name): \(field.value.prefix(SyncLimits.recordedFieldCharacters))"
        }
    }

    private static func isSecret(_ name: String) -> Bool {
        if secret.contains(name) { return true }
        // Compared as bytes: comparing characters took a twentieth of a push.
        let bytes = Array(name.utf8)
        return secretParts.contains { part in
            bytes.indices.contains { bytes[$0...].starts(with: part) }
        }
    }
}

/// The place of a client's request in a trace (W3C Trace Context), as it is sent on to the backend.
public struct Trace: Sendable, Hashable {
    /// The field `traceparent`.
    public var parent: String
    /// The field `tracestate`; nil if there is none.
    public var state: String?

    public init(parent: String, state: String? = nil) {
        self.parent = parent
        self.state = state
    }

    func add(to fields: inout HTTPFields) {
        fields.set("traceparent", parent)
        if let state { fields.set("tracestate", state) }
    }
}
