/// How long a store keeps what is settled. Open operations, their attempts and their items are always kept.
public struct Retention: Sendable, Hashable {
    /// Seconds that closed operations and history are kept.
    public var historySeconds = StoreLimits.historySeconds
    /// Seconds that the attempts of a closed operation are kept.
    public var attemptSeconds = StoreLimits.attemptSeconds
    /// Seconds that tombstones are kept.
    public var tombstoneSeconds = StoreLimits.tombstoneSeconds
    /// Bytes that history may have; nil for no limit.
    public var historyBytes: Int64?
    /// Bytes that the attempts of closed operations may have; nil for no limit.
    public var attemptBytes: Int64?

    /// The times and sizes unless others are set.
    public init() {}
}
