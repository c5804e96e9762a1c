public import HTTPTypes

/// An HTTP request as a value: the head as it stood on the wire and the whole body.
public struct Request: Sendable {
    /// Method, scheme, authority and header fields. `head.path` is the raw request target
    /// (`/tables/todoitem?$top=1`), never decoded: the router splits it first and decodes each part once.
    public var head: HTTPRequest
    /// The body bytes as they arrived; empty when there was none.
    public var body: [UInt8]
    /// The body while it arrives, instead of ``body``; nil when ``body`` is whole. A reader that
    /// does not need the rest cancels it.
    public var bodyStream: ByteStream?
    /// The bytes of the body by the head's `Content-Length`, which the server has judged; nil without it.
    public var announcedBytes: Int?
    /// The connection that the request came in on; ``Connection/outgoing`` for a request to the backend.
    public var connection: Connection

    public init(
        head: HTTPRequest, body: [UInt8] = [], announcedBytes: Int? = nil,
        connection: Connection = .outgoing
    ) {
        self.head = head
        self.body = body
        self.announcedBytes = announcedBytes
        self.connection = connection
    }

    /// The path part of the raw target, still percent-encoded; `/` when the target has none.
    public var path: Substring {
        // By bytes, since a search by characters takes longer than the rest of a short request.
        let target = head.path ?? "/"
        return target[..<(target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex)]
    }

    /// The query part of the raw target after the first `?`, still percent-encoded; nil when absent.
    public var query: Substring? {
        guard let target = head.path, let mark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        else { return nil }
        return target[target.utf8.index(after: mark)...]
    }
}

/// The connection that a request came in on, as handlers see it.
public struct Connection: Sendable, Hashable {
    /// The local address that the client connected to, for example `127.0.0.1`, or ``unixSocket``.
    public var localAddress: String
    /// The local port that the client connected to; 0 for an outgoing request.
    public var localPort: UInt16
    /// The address that the client connected from; empty on a Unix socket and for an outgoing request.
    public var peerAddress: String
    /// The number of the server thread that runs the handler, from 0. Two handlers never run on the same
    /// worker at once, so a resource of a worker, such as a reader, needs no lock.
    public var worker: Int
    /// The number of the connection at its server; 0 where it has none.
    public var number: UInt64

    public init(
        localAddress: String, localPort: UInt16, peerAddress: String = "", worker: Int,
        number: UInt64 = 0
    ) {
        self.localAddress = localAddress
        self.localPort = localPort
        self.peerAddress = peerAddress
        self.worker = worker
        self.number = number
    }

    /// ``localAddress`` of a connection on a Unix socket. The permissions of its file decide which users may
    /// connect.
    public static let unixSocket = "unix"

    /// The connection of a request that no server received.
    public static let outgoing = Connection(localAddress: "", localPort: 0, worker: 0)
}

public struct Response: Sendable {
    /// Status and header fields. `Content-Length` is added by the server, not by handlers.
    public var head: HTTPResponse
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
