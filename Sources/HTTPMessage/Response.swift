public import HTTPTypes

/// An HTTP response as a value.
public struct Response: Sendable {
    /// Status and header fields. `Content-Length` is added by the server, not by handlers.
    public var head: HTTPResponse
    /// The body.
    public var body: Body

    /// A response body: complete bytes (sent with `Content-Length`) or a stream, sent in chunks or
    /// with the `Content-Length` that the head has for it.
    public enum Body: Sendable {
        case bytes([UInt8])
        case stream(ByteStream)
    }

    /// Makes a response with a complete body; no bytes means no body.
    public init(head: HTTPResponse, body: [UInt8] = []) {
        self.head = head
        self.body = .bytes(body)
    }

    /// Makes a response whose body is sent while `stream` is written.
    public init(head: HTTPResponse, stream: ByteStream) {
        self.head = head
        self.body = .stream(stream)
    }

    /// Makes a response from a status, header fields and a complete body.
    public init(status: HTTPResponse.Status, headerFields: HTTPFields = [:], body: [UInt8] = []) {
        self.init(head: HTTPResponse(status: status, headerFields: headerFields), body: body)
    }

    /// The bytes of the streamed body by the head's `Content-Length`; nil without that field, for a complete
    /// body, and for a length below zero or above Int64.max.
    public var announcedBytes: UInt64? {
        guard case .stream = body else { return nil }
        return head.headerFields[.contentLength].flatMap { Int64($0) }.flatMap {
            UInt64(exactly: $0)
        }
    }

    /// The complete body, or nil while it is a stream.
    public var bytes: [UInt8]? {
        if case .bytes(let bytes) = body { bytes } else { nil }
    }
}
