public import TablesProtocol

/// One thing that happened, with what it changed.
public struct HistoryEntry: Sendable, Hashable {
    /// What happened.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case write, sent, conflict, merged, resolved, quarantined, discarded, retried, edited,
            pulled,
            purged, undone, failed
    }

    /// Grows with every entry.
    public var id: Int64
    /// When.
    public var at: Instant
    /// What.
    public var kind: Kind
    /// Who.
    public var actor: Actor
    /// The table as first spelled.
    public var table: String?
    /// The item.
    public var itemID: String?
    /// The operation.
    public var operationID: OperationID?
    /// A short text of the item for a person, as long as the operation is kept.
    public var title: String?
    /// The item's columns before; nil when there was none or it was deleted.
    public var before: JSONText?
    /// The item's columns after; nil when there is none or it is deleted.
    public var after: JSONText?
    /// One sentence.
    public var summary: String
    /// Whether it can be undone and was not.
    public var undoable: Bool
    /// The entry that undid it.
    public var undoneBy: Int64?
}
