/// Every bound of the server, in one place. A body's bound comes from the handler's admission.
public struct Limits: Sendable, Hashable {
    /// Connections open at once over all addresses. For one more, the connection that has waited
    /// longest for a whole request is closed, or else those whose clients leave their answers unread;
    /// where none has for ``spareSeconds``, the newcomer waits in the kernel's queue.
    public var connections = 128
    /// Seconds that a connection may wait for a whole request, or its answer to be read, without being
    /// closed for a newcomer.
    public var spareSeconds = 2
    /// Bytes of its answer that a client must take in so many seconds, when more of it waits, to keep
    /// its connection from a newcomer.
    public var spareBytes = 64 * 1024
    /// Connections open at once from one client address; 0 is no such limit.
    public var connectionsPerAddress = 0
    /// Bytes of a request's target; a longer one is answered 414.
    public var targetBytes = 16 * 1024
    /// Bytes of a request's header fields, all together; more are answered 431.
    public var headBytes = 32 * 1024
    /// Bytes of memory for one connection. A request whose line and head do not fit into it is
    /// answered by libmicrohttpd itself, in HTML, so it holds more than the two limits above allow.
    /// Answers are sent in pieces of at most this size.
    public var memoryBytes = 80 * 1024
    /// Header fields of one request; more are answered 431.
    public var headerFields = 64
    /// Seconds without a byte in either direction after which a connection closes. A suspended
    /// request does not count as idle.
    public var idleSeconds = 60
    /// Seconds from a connection's start or its last answer until its next request has arrived
    /// whole, the pause between included. It ends what ``idleSeconds`` does not: a client that
    /// sends a byte now and then.
    public var requestSeconds = 300
    /// Bytes of a refused request's body that are read and thrown away, so that its client can
    /// finish sending and read the refusal, before the connection is cut.
    public var discardedBodyBytes = 2 << 20
    /// Bytes reserved at once for an announced body; a longer one grows as it arrives.
    public var reservedBodyBytes = 64 * 1024
    /// Bytes of all bodies that are held at once, over all connections, small ones not counted; a body
    /// for which there is no room is answered 503.
    public var bodiesBytes = 24 << 20
    /// Bytes of a body that do not count in ``bodiesBytes``.
    public var smallBodyBytes = 64 * 1024
    /// Connections that the kernel keeps waiting to be accepted, for each address.
    public var backlog = 511
    /// Milliseconds that ``Server/stop()`` gives changes that are being made, such as a commit, to end.
    /// It is less than the time in which the process has to end.
    public var changeGraceMilliseconds = 1500
    /// Milliseconds that ``Server/stop()`` gives running answers to reach their clients.
    public var stopGraceMilliseconds = 1000
    /// Milliseconds until accepting is tried again when there is no room or no file descriptor left.
    public var acceptRetryMilliseconds = 100

    /// The limits that the documentation names.
    public init() {}
}

extension Limits {
    /// Events that one wait of the accepting thread takes.
    static let eventsAtOnce = 64
    /// Bytes that libmicrohttpd asks of a stream at once when the client takes no chunks.
    static let streamPieceBytes = 16 * 1024
    /// Milliseconds that a client has to send its request when it is turned away for want of
    /// descriptors; no other connection is accepted meanwhile.
    static let turnedAwayMilliseconds = 20
    /// Bytes that are read of the request of such a client.
    static let turnedAwayBytes = 64 * 1024
    /// What a header field has beside its name and value: the colon, the space and the line's end.
    static let fieldFrameBytes = 4
}
