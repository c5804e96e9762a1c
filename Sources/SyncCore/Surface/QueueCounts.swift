/// How many operations are in each open state.
public struct QueueCounts: Sendable, Hashable {
    /// The number in each state.
    public var queued = 0
    public var waiting = 0
    public var sending = 0
    public var unknown = 0
    public var conflict = 0
    public var quarantined = 0

    /// All of them.
    public var open: Int { queued + waiting + sending + unknown + conflict + quarantined }

    /// No operations.
    public init() {}
}
