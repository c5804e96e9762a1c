public import TablesProtocol

/// An entry of another store's history, as an export has it.
public struct ImportedEntry: Sendable {
    /// When it happened there.
    public var at: Instant
    /// What.
    public var kind: HistoryEntry.Kind
    /// Who, there.
    public var actor: Actor
    /// The table; nil for what concerns none.
    public var table: TableName?
    /// The item.
    public var itemID: String?
    /// The operation, as that store named it.
    public var operationID: OperationID?
    /// The item's columns before.
    public var before: Columns?
    /// The item's columns after.
    public var after: Columns?
    /// One sentence.
    public var summary: String

    /// Makes an entry from its parts.
    public init(
        at: Instant, kind: HistoryEntry.Kind, actor: Actor, table: TableName?, itemID: String?,
        operationID: OperationID?, before: Columns?, after: Columns?, summary: String
    ) {
        self.at = at
        self.kind = kind
        self.actor = actor
        self.table = table
        self.itemID = itemID
        self.operationID = operationID
        self.before = before
        self.after = after
        self.summary = summary
    }
}

/// What became of an imported entry.
public enum ImportedOutcome: Sendable, Hashable {
    /// It is in the history now.
    case added
    /// It was there.
    case present
    /// Tables are restricted and its own is none of them.
    case tableNotAllowed
}
