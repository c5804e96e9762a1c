/// What a bulk action did, or would do.
public struct BulkOutcome: Sendable, Hashable {
    /// Operations that match.
    public var matched: Int
    /// Operations it was done to; 0 in a dry run.
    public var done: Int
    /// Operations it cannot be done to.
    public var refused: Int
}
