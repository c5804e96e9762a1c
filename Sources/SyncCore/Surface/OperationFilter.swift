/// Which operations are meant.
public struct OperationFilter: Sendable, Hashable {
    /// The states; nil for all that are open.
    public var states: Set<OperationState>?
    /// The table, whatever its case.
    public var table: String?
    /// Part of the item's id, title or reason.
    public var text: String?

    /// All open operations, unless narrowed.
    public init(
        states: Set<OperationState>? = nil, table: String? = nil, text: String? = nil
    ) {
        self.states = states
        self.table = table
        self.text = text
    }
}
