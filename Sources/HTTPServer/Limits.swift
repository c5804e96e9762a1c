/// The limits of the server. The limit of a body comes from the handler's ``Admission``.
public struct Limits: Sendable, Hashable {
    /// Places: connections over all addresses that libmicrohttpd serves at once. Half of them are given to any
    /// connection, the others to those whose request has arrived (``ConnectionReaper``).
    public var connections = 128
    /// Connections that wait at once for a request or a place. Of more, those whose requests have been arriving for
    /// longest are closed.
    public var waitingConnections = 4096
    /// Streams of events that are sent at once. Their connections do not count in ``connections``: each is idle
    /// for most of the time. One more counts as any other connection does.
    public var eventStreams = 96
    /// Seconds for which a connection may wait for a whole request, or for its answer to be read, before it
    /// can be closed in favour of another one.
    public var evictionSeconds = 2
    /// Bytes of its answer that a client must take in ``evictionSeconds``, while more of it waits, to keep
    /// its connection.
    public var evictionBytes = 64 * 1024
    /// Bytes of a request's target; a longer one is answered 414.
    public var targetBytes = 16 * 1024
    /// Bytes of a request's header fields, all together; more are answered 431.
    public var headBytes = 32 * 1024
    /// Header fields of one request; more are answered 431.
    public var headerFields = 64
    /// Bytes of the head of an answer.
    public var answerHeadBytes = 2 * 1024
    /// Seconds without a byte in either direction after which a connection closes. A suspended
    /// request does not count as idle.
    public var idleSeconds = 60
    /// Seconds from a connection's start or its last answer until its next request has arrived
    /// whole, the pause between included. It ends what ``idleSeconds`` does not: a client that
    /// sends a byte now and then.
    public var requestSeconds = 300
    /// Seconds in which a streamed answer must move on if the client has closed its side of the connection.
    /// Such a client may read on, or may have left. So this is the longest pause of the answer's writer, and
    /// of a client that reads slowly.
    public var halfClosedSeconds = 30
    /// Bytes of a refused request's body that are read and discarded before the connection is cut, so that
    /// the client can finish sending and read the refusal.
    public var discardedBodyBytes = 2 << 20
    /// Bytes reserved at once for an announced body; a longer one grows as it arrives.
    public var reservedBodyBytes = 64 * 1024
    /// Bytes of all bodies in memory at once, over all connections, without the first ``smallBodyBytes`` of
    /// each. A request whose body would need more is answered 503.
    public var bodiesBytes = 24 << 20
    /// First bytes of each body that do not count in ``bodiesBytes``.
    public var smallBodyBytes = 64 * 1024
    /// Connections that the kernel keeps waiting to be accepted, for each address.
    public var backlog = 4096
    /// Milliseconds that ``Server/stop()`` waits for changes in progress, such as a commit. It is less than
    /// the time in which the process has to end.
    public var changeGraceMilliseconds = 1500
    /// Milliseconds that ``Server/stop()`` waits for answers that are being sent.
    public var stopGraceMilliseconds = 1000
    /// Milliseconds until connections are evicted again while others wait for a place, and until accepting is tried
    /// again without file descriptors.
    public var acceptRetryMilliseconds = 100

    /// The limits that the documentation names.
    public init() {}
}

extension Limits {
    /// Bytes of memory for one connection, which libmicrohttpd clears for each request. A request whose line and
    /// head do not fit into it is answered by libmicrohttpd itself, in HTML, so it holds the longest that is allowed,
    /// and an answer's head. Answers are sent in pieces of at most this size.
    var memoryBytes: Int {
        targetBytes + headBytes + headerFields * Self.fieldMemoryBytes + answerHeadBytes
    }
    /// Bytes that libmicrohttpd takes for each header field beside its text, and for a part of the connection itself.
    static let fieldMemoryBytes = 96
    /// The places that are given to connections before anything of their requests was seen.
    var unseenConnections: Int { connections - connections / 2 }
    /// With more connections than these each answer closes its own.
    var keptConnections: Int { connections - max(1, connections / 8) }
    /// The places that are given to requests of which much has arrived but not all.
    var bodyConnections: Int { connections - connections / 4 }
    /// Bytes of a first request that are looked at while its connection waits. The kernel's buffer holds more.
    static let peekedBytes = 32 * 1024
    /// For how many requests of which much has arrived others are evicted at once.
    static let pressingBodies = 4
    /// Of the slow requests that wait, one of so many is closed for another connection.
    static let evictedPart = 16
    /// Events that one wait of the accepting thread takes.
    static let eventsAtOnce = 64
    /// Bytes that libmicrohttpd asks of a stream at once when the client takes no chunks.
    static let streamPieceBytes = 16 * 1024
    /// The same for a stream of events, which libmicrohttpd holds as long as the stream lasts.
    static let eventPieceBytes = 1024
    /// Descriptors, of those that the process may open, that no connection takes.
    static let reservedDescriptors = 32
    /// Of the descriptors that the process may open, one of so many is for a connection that waits.
    static let waitingPart = 4
    /// Milliseconds that a client has to send its request when it is answered 503 for lack of descriptors. No
    /// other connection is accepted meanwhile.
    static let refusedRequestMilliseconds = 20
    /// Bytes of the request of such a client that are read.
    static let refusedRequestBytes = 64 * 1024
    /// Bytes of a header field beside its name and value: the colon, the space and the line's end.
    static let fieldFrameBytes = 4
    /// Bytes that end a line of a head: CR and LF.
    static let lineEndBytes: UInt = 2
    /// Times in ``requestSeconds`` that overdue requests are looked for.
    static let overdueChecks = 4
    /// Seconds that `Retry-After` of the server's own 503 says.
    static let retryAfterSeconds = 1
}
