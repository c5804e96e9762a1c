/// Which operations are meant.
public struct OperationFilter: Sendable, Hashable {
    /// The states; nil for all that are open.
    public var states: Set<OperationState>?
    /// The table, whatever its case.
    public var table: String?
    /// Part of the item's id, title, payload or reason.
    public var text: String?
    /// The reason, whole.
    public var reason: String?
    /// The ids of items of the table, whose open operations are meant; nil for all.
    public var items: [String]?

    /// All open operations, unless narrowed.
    public init(
        states: Set<OperationState>? = nil, table: String? = nil, text: String? = nil,
        reason: String? = nil, items: [String]? = nil
    ) {
        self.states = states
        self.table = table
        self.text = text
        self.reason = reason
        self.items = items
    }
}
