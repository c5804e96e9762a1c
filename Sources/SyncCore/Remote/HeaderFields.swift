public import HTTPTypes
import Storage
public import TablesProtocol

/// In whose name the engine speaks to the backend.
public enum Credential: Sendable, Hashable {
    /// No user's: the anonymous identity sends no token.
    case none
    /// The header field that carries the identity's token, as its client sent it.
    case token(HTTPField)
    /// The identity has a name but its token is not here, after a restart for example: nothing is
    /// sent until its user signs in.
    case missing
}

extension HTTPField {
    /// A client's token in the fields where servers of the generation look for it: `X-ZUMO-AUTH` in
    /// the first two, `Authorization: Bearer` in the third, whose apps may keep the older one.
    public func token(for generation: Generation) -> [HTTPField] {
        let bearer = "bearer "
        guard let zumo = HTTPField.Name("X-ZUMO-AUTH") else { return [self] }
        switch generation {
        case .mobileServices, .mobileApps:
            guard name == .authorization, value.lowercased().hasPrefix(bearer) else {
                return [self]
            }
            let text = value.dropFirst(bearer.utf8.count).drop { $0 == " " }
            return [HTTPField(name: zumo, value: String(text))]
        case .datasync:
            guard name == zumo else { return [self] }
            return [self, HTTPField(name: .authorization, value: "Bearer \(value)")]
        }
    }
}

/// The name of a header field that clients may have sent on (`--forward-header`).
///
/// Refused are the fields that belong to one connection or one message, those that sign a client in,
/// those that say on which condition a request holds, and those that Understudy reads or writes itself:
/// sent on they would speak for another request than the one that they came with.
public struct ForwardableName: Sendable, Hashable {
    /// The name.
    public let name: HTTPField.Name

    /// Reads a name; nil for one that is no token or must not be sent on.
    public init?(_ text: String) {
        guard let name = HTTPField.Name(text), !Self.isRefused(name.canonicalName) else {
            return nil
        }
        self.name = name
    }

    /// What a name may be, for the sentence when it is not.
    public static let allowed =
        "the name of a header field of the client's own, such as X-Tenant: not one of the connection or "
        + "the message (Host, Content-…, Transfer-Encoding, Connection), not one that signs in "
        + "(Authorization, Cookie, Referer, X-ZUMO-AUTH, X-ZUMO-APPLICATION), not a condition (If-…), and none "
        + "that Understudy sends itself (ZUMO-API-VERSION, Idempotency-Key, traceparent, Understudy-…)"

    private static func isRefused(_ name: String) -> Bool {
        refused.contains(name) || refusedBeginnings.contains { name.hasPrefix($0) }
    }

    private static let refused: Set<String> = [
        // The connection and the message (RFC 9110, 7.6.1).
        "host", "connection", "keep-alive", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade", "expect", "max-forwards", "http2-settings",
        // What signs in.
        "authorization", "proxy-authorization", "proxy-authenticate", "www-authenticate", "cookie",
        "set-cookie", "referer", "x-zumo-auth", "x-zumo-application", "x-zumo-master",
        // What the answer depends on.
        "range", "accept", "accept-encoding", "origin", "x-http-method-override",
        // What Understudy reads or writes itself.
        "zumo-api-version", "x-zumo-options", "idempotency-key", "traceparent", "prefer",
    ]
    private static let refusedBeginnings = [
        "content-", "if-", "sec-", "access-control-", "understudy-",
    ]
}

/// The header fields of a request or an answer as an attempt records them: one line each, and
/// nothing in them that could be used to sign in.
enum RecordedFields {
    private static let secret: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "set-cookie", "x-zumo-auth",
        "x-zumo-application", "x-zumo-master", "x-functions-key", "api-key",
    ]
    /// Parts of a name that say that the value is a secret.
    private static let telling =
        ["token", "secret", "password", "credential"].map { Array($0.utf8) }

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
        // By bytes: searching text by characters took a twentieth of a push.
        let bytes = Array(name.utf8)
        return telling.contains { part in
            bytes.indices.contains { bytes[$0...].starts(with: part) }
        }
    }
}
