/// Every fixed bound of this module, with its unit.
enum Limits {
    /// The longest response head, all lines together. A longer one is refused as too large.
    static let responseHeadBytes = 256 << 10
    /// Idle connections that are kept for reuse, all hosts together.
    static let idleConnections = 32
    /// How long a connection may have been idle to carry a request that must not be sent twice.
    /// libcurl compares whole seconds with "more than", so 3 means less than 4 seconds: below the 5
    /// seconds after which Node.js, the shortest of the usual servers, closes an idle connection.
    static let idleSecondsForUnsafeRequest = 3
    /// The same for a request that libcurl may send again by itself.
    static let idleSecondsForSafeRequest = 90
    /// A connection that moves fewer bytes each second than this is stalled.
    static let stalledBytesEachSecond = 1
    /// How long a transfer whose body is streamed may move no byte, in seconds: longer than the 230
    /// seconds after which Azure's own front ends give a request up.
    static let streamStallSeconds = 240
    /// The longest sleep of the loop when nothing at all is under way, in milliseconds.
    static let idlePollMilliseconds = 60_000
}
