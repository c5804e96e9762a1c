public import TablesProtocol

/// Operations that are in one state for one reason.
public struct OperationGroup: Sendable, Hashable {
    /// Where they are.
    public var state: OperationState
    /// Why, in plain words.
    public var reason: String
    /// How many.
    public var count: Int
    /// When the oldest was accepted.
    public var since: Instant
}
