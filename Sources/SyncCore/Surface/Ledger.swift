/// The account of every accepted write. The first four only grow.
public struct Ledger: Sendable, Hashable {
    /// Writes that were answered with success, and operations that resolutions made.
    public var accepted: Int64
    /// Operations that the backend has.
    public var applied: Int64
    /// Writes merged into others or without effect.
    public var collapsed: Int64
    /// Operations given up by a person or policy.
    public var discarded: Int64
    /// What is still open.
    public var queue: QueueCounts

    /// Whether every accepted write is accounted for.
    public var balances: Bool {
        accepted == applied + collapsed + discarded + Int64(queue.open)
    }
}
