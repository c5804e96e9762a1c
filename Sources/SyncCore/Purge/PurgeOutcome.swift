/// What became of a purge.
public enum PurgeOutcome: Sendable, Hashable {
    /// Rows removed and operations given up.
    case purged(items: Int, discarded: Int)
    /// Operations are open, and force was not asked for.
    case refusedPending(Int)
    /// An operation is being sent at this moment: try again.
    case refusedSending
    case unknownTable
    case invalid(String)
    case failed(String)
}
