public import HTTPTypes

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
