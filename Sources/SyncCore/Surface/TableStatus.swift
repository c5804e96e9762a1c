public import TablesProtocol

/// One table as the operator sees it.
public struct TableStatus: Sendable, Hashable {
    /// The name as first spelled.
    public var name: String
    /// Items that are not deleted.
    public var items: Int
    /// Open operations.
    public var pending: Int
    /// Whether a pull has completed once.
    public var isComplete: Bool
    /// When a pull last completed.
    public var lastPull: Instant?
    /// How reads are answered.
    public var readPolicy: ReadPolicy
    /// When writes are answered.
    public var writePolicy: WritePolicy
    /// Who decides conflicts.
    public var conflictPolicy: ConflictPolicy
    /// Who decides conflicts of writes without If-Match: `ask` or `client`.
    public var unconditionalPolicy: ConflictPolicy
    /// Whether all identities share the anonymous store's table.
    public var isPublic: Bool
    /// What the ids are.
    public var idKind: IDKind
    /// How the backend's table is paged.
    public var paging: Paging
    /// By which columns an item needs items of other tables: inserted after them, deleted before.
    public var parents: [ParentLink]
    /// Whether an update that is followed by a delete is sent all the same, before it.
    public var preservesHistory: Bool
    /// What a person should know, in plain words: why pulls fail, rows that are set aside, how the
    /// backend lists it.
    public var warning: String?
    /// Why its pulls fail; nil while they succeed.
    public var pullError: String?
    /// Since when they fail.
    public var pullsFailSince: Instant?
    /// Rows of the backend that are not here since they cannot be taken.
    public var setAside: Int
    /// The indexes that it has, then those that its lists asked for.
    public var indexes: [IndexStatus]
}
