/// How many operations are in each open state.
public struct QueueCounts: Sendable, Hashable {
    /// Due.
    public var queued = 0
    /// Will be tried again.
    public var waiting = 0
    /// On their way.
    public var sending = 0
    /// Sent without a verdict.
    public var unknown = 0
    /// Waiting for a decision.
    public var conflict = 0
    /// Refused by the backend.
    public var quarantined = 0

    /// All of them.
    public var open: Int { queued + waiting + sending + unknown + conflict + quarantined }

    /// No operations.
    public init() {}
}
