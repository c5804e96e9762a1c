import TablesProtocol

/// The backend's side of an item, as far as it is known.
struct ServerSide: Sendable, Hashable {
    /// The user's columns; nil when the backend has no row.
    var columns: Columns?
    /// The backend keeps the row marked as deleted.
    var isDeleted = false
    /// Raw.
    var version: String?
    var updatedAt: String?
    var createdAt: Instant?

    /// Whether clients of the backend see the item.
    var isLive: Bool { columns != nil && !isDeleted }

    /// The backend has no row.
    static let none = ServerSide()

    init() {}

    /// A row of which nothing but its columns is known.
    init(columns: Columns?) { self.columns = columns }

    /// What a row of the backend says; nil means that it has none.
    init(_ remote: RemoteRow?, columns: Columns?) {
        guard let remote else { return }
        self.columns = columns ?? remote.columns
        isDeleted = remote.isDeleted
        version = remote.version
        updatedAt = remote.updatedAt
        createdAt = remote.createdAt.flatMap { Instant(parsing: $0) }
    }

    /// What was last known of the backend while the row had local changes.
    init(shadowOf row: ItemRow) {
        columns = row.shadow
        isDeleted = row.serverDeleted
        version = row.serverVersion
        updatedAt = row.serverUpdatedAt
    }
}

/// The backend's side of an item as the operations of its chain meet it, one after the other. Pure.
///
/// An operation that follows another one is judged like any write: what the client based it on, what
/// it changes, and the backend's row go through the three-way merge.
struct ChainSides {
    /// The operation before the chain that the backend has just taken.
    struct Predecessor {
        var kind: OperationKind
        /// The row as it should have left it; nil when it deleted the row.
        var expected: Columns?
        /// The backend's row is the answer to our own insert or conditional request: what differs in
        /// it from what was sent is the backend's own doing, and no other writer's.
        var isOwnAnswer: Bool
    }

    /// How an operation stands to the backend's row.
    enum Judgement: Sendable, Hashable {
        /// It can be sent over the row.
        case free
        /// Another writer changed these columns too; none are named where the row as a whole stands
        /// against it (it is gone, or it was changed and is to be deleted).
        case overlap([String])
    }

    /// What the next operation is sent over.
    private(set) var server: ServerSide
    /// The same with the columns that the backend does not keep as they were sent.
    private var seen: ServerSide
    /// The same as far as other writers can have a part in it.
    private var foreign: ServerSide
    /// What the backend gave a new row of its own accord.
    private var defaults = Columns()

    init(_ server: ServerSide, after predecessor: Predecessor?) {
        self.server = server
        seen = server
        foreign = server
        guard let predecessor, let expected = predecessor.expected, let columns = server.columns
        else { return }
        seen.columns = columns.filled(from: expected)
        foreign = seen
        if predecessor.kind == .insert {
            let added = Columns(columns.all.filter { expected[$0.name] == nil })
            // A row that was only looked at may have got them from another writer.
            if predecessor.isOwnAnswer { defaults = added }
        }
        if predecessor.isOwnAnswer { foreign.columns = expected }
    }

    /// Judges an operation against the row.
    func judge(_ operation: TableOperation) -> Judgement {
        switch operation.kind {
        case .undelete: return .free
        case .insert:
            guard server.isLive, let columns = server.columns else { return .free }
            return columns.holds(operation.changes) ? .free : .overlap([])
        case .update, .replace:
            guard server.isLive else { return .overlap([]) }
            let merge = ThreeWayMerge(
                base: (operation.baseRow ?? Columns()).filled(from: defaults),
                changes: operation.changes, theirs: seen.columns ?? Columns())
            return merge.overlaps.isEmpty ? .free : .overlap(merge.overlaps)
        case .delete:
            guard server.isLive, let columns = foreign.columns else { return .free }
            let base = operation.baseRow ?? Columns()
            return columns.changedNames(from: base).isEmpty ? .free : .overlap([])
        }
    }

    /// Goes on to what an operation leaves behind.
    mutating func pass(_ operation: TableOperation) {
        for side in [\ChainSides.server, \.seen, \.foreign] {
            self[keyPath: side].columns = Rebase.wanted(operation, over: self[keyPath: side])
            self[keyPath: side].isDeleted = operation.kind == .delete
        }
        defaults = Columns()
    }

    /// The base of an operation that cannot be judged yet, since another one goes before it: the row
    /// that it will meet, but for the columns in question, which stay as the client saw them.
    func base(of operation: TableOperation, without overlaps: [String]) -> Columns? {
        guard var base = server.columns, !overlaps.isEmpty else { return operation.baseRow }
        for name in overlaps { base[name] = operation.baseRow?[name] ?? .null }
        return base
    }
}
