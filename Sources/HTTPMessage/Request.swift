public import HTTPTypes

/// An HTTP request as a value: the head as it stood on the wire and the whole body.
public struct Request: Sendable {
    /// Method, scheme, authority and header fields. `head.path` is the raw request target
    /// (`/tables/todoitem?$top=1`), never decoded: a router splits first and decodes once.
    public var head: HTTPRequest
    /// The body bytes as they arrived; empty when there was none.
    public var body: [UInt8]
    /// The body while it arrives, instead of ``body``; nil when the whole body is there. A reader that
    /// does not want the rest cancels it.
    public var bodyStream: ByteStream?
    /// Where the request came in. For outgoing requests this is ``Connection/outgoing``.
    public var connection: Connection

    /// Makes a request from its parts.
    public init(
        head: HTTPRequest, body: [UInt8] = [], connection: Connection = .outgoing
    ) {
        self.head = head
        self.body = body
        self.connection = connection
    }

    /// The path part of the raw target, still percent-encoded; `/` when the target has none.
    public var path: Substring {
        // By bytes: a search by characters costs more than the rest of a short request.
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

/// The connection that a request came in on, as far as a handler may know it.
public struct Connection: Sendable, Hashable {
    /// The local address that the client connected to, for example `127.0.0.1`, or ``unixSocket``.
    public var localAddress: String
    /// The local port that the client connected to; 0 for an outgoing request.
    public var localPort: UInt16
    /// Which server thread runs the handler, counted from 0. Two handlers never run on the same
    /// worker at once, so a worker may own a resource (a reader connection) without contention.
    public var worker: Int

    /// Makes a description of a connection.
    public init(localAddress: String, localPort: UInt16, worker: Int) {
        self.localAddress = localAddress
        self.localPort = localPort
        self.worker = worker
    }

    /// ``localAddress`` of a connection that came in on a Unix socket, whose file says who may.
    public static let unixSocket = "unix"

    /// What a request carries that was not received by a server.
    public static let outgoing = Connection(localAddress: "", localPort: 0, worker: 0)
}
