public import TablesProtocol

/// A conflict with all that a person needs to decide.
public struct ConflictDetail: Sendable, Hashable {
    /// One column of the conflict.
    public struct Field: Sendable, Hashable {
        /// The column's name.
        public var name: String
        /// What the change started from; nil where there was no such column.
        public var base: JSONText?
        /// Mine; nil where the row has no such column.
        public var mine: JSONText?
        /// The backend's; nil where the row has no such column.
        public var server: JSONText?
        /// Whether both sides changed it, to different values.
        public var overlaps: Bool
    }

    /// The id of the operation.
    public var id: OperationID
    /// Whose operation it is.
    public var identity: String
    /// The table as first spelled.
    public var table: String
    /// The item's id.
    public var itemID: String
    /// The operation's revision, which a resolution must name.
    public var revision: Int
    /// What the operation does.
    public var kind: OperationKind
    /// A short text of the item for a person.
    public var title: String?
    /// Why this is a conflict, in plain words.
    public var reason: String?
    /// The user's columns that the change started from.
    public var base: JSONText?
    /// The local row's; nil when it is deleted here.
    public var mine: JSONText?
    /// The backend's; nil when it has no row.
    public var server: JSONText?
    /// Whether the backend deleted the row.
    public var serverDeleted: Bool
    /// Whether the row is deleted here.
    public var mineDeleted: Bool
    /// The columns in which the rows differ.
    public var fields: [Field]
    /// The merge: mine over the backend's row where only I changed a column, else the backend's; nil
    /// when a side is deleted.
    public var proposed: JSONText?
    /// Since when it waits for a decision.
    public var since: Instant
}
