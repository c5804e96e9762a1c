public import TablesProtocol

/// Why the engine is woken. Waking never waits and carries no work: the work is in the store.
public enum WakeCause: Sendable, Hashable {
    /// Local writes were committed.
    case write
    /// A person acted on an operation: retried, resolved, edited it.
    case action
    /// A client read this table, and wants it fresh.
    case read(TableName)
    /// Something suggests that the backend can be reached: a request was passed through.
    case reachable
    /// A request that was passed through got no answer: the backend may be out of reach.
    case unreachable
    /// Somebody signed in.
    case signedIn
}
