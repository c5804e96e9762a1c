/// Every limit of this module, with its unit. The public ones are the defaults of ``ClientConfiguration``.
public enum Limits {
    /// Seconds that the opening of a connection may take.
    public static let connectSeconds = 5
    /// Seconds that a request with a whole answer may take.
    public static let requestSeconds = 30
    /// Seconds without a byte in either direction.
    public static let stallSeconds = 20
    /// Bytes of a response head, and of a trailer.
    public static let responseHeadBytes = 256 << 10
    /// Bytes of a whole response body.
    public static let responseBodyBytes = 64 << 20
    /// Bytes of a streamed response body.
    public static let streamedBodyBytes = 100 << 20
    /// Requests at once to one host and port.
    public static let connectionsPerHost = 8
    /// Paused transfers at once, over all hosts.
    public static let pausedTransfers = 16
    /// Idle connections that are kept for reuse, all hosts together.
    static let idleConnections = 32
    /// Seconds for which a connection may have been idle to be used for a request that must not be sent
    /// twice. libcurl compares whole seconds with "more than", so 3 means less than 4 seconds. Of the usual
    /// servers, Node.js closes an idle connection first, after 5 seconds.
    static let idleSecondsForUnsafeRequest = 3
    /// The same in seconds for a request that libcurl may send again by itself.
    static let idleSecondsForSafeRequest = 90
    /// Bytes per second below which a connection is stalled.
    static let stalledBytesEachSecond = 1
    /// Seconds for which a transfer with a streamed body may move no byte. Azure's own front ends give a
    /// request up after 230 seconds, so this is more.
    static let streamStallSeconds = 240
    /// Milliseconds of the loop's longest sleep, when there is no call.
    static let idlePollMilliseconds = 60_000
}
