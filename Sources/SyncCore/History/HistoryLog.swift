import Storage
public import TablesProtocol

/// The history and its undo points: `history` and `undo_points`.
struct HistoryLog {
    let transaction: Transaction

    /// Adds an entry.
    /// - Returns: the entry's id.
    /// - Parameters:
    ///   - before: the item's columns before; nil if the item did not exist or was deleted.
    ///   - after: the item's columns after; nil if the item does not exist or is deleted.
    @discardableResult
    func record(
        _ kind: HistoryKind, actor: Actor, tableID: Int64? = nil, item: ItemID? = nil,
        operation: OperationID? = nil, before: Columns? = nil, after: Columns? = nil,
        summary: String, undoable: Bool = false
    ) throws -> Int64 {
        try transaction.insert(
            HistoryRow(
                at: transaction.now.milliseconds, kind: kind, actor: actor, tableID: tableID,
                itemID: item?.text, operationID: operation, before: before, after: after,
                summary: summary, isUndoable: undoable))
        return transaction.db.insertedRowID
    }

    @discardableResult
    func record(
        _ kind: HistoryKind, actor: Actor, _ operation: TableOperation,
        before: Columns? = nil, after: Columns? = nil, summary: String, undoable: Bool = false
    ) throws -> Int64 {
        try record(
            kind, actor: actor, tableID: operation.tableID, item: operation.itemID,
            operation: operation.id, before: before, after: after, summary: summary,
            undoable: undoable)
    }

    /// Adds an entry about an operation that was discarded or decided, with its undo point.
    func record(
        _ kind: HistoryKind, actor: Actor, _ operation: TableOperation, before: Columns?,
        after: Columns?, summary: String, point: UndoPoint
    ) throws {
        let entry = try record(
            kind, actor: actor, operation, before: before, after: after, summary: summary,
            undoable: true)
        try transaction.insert(point.kept(for: entry, before: before))
    }

    func entry(_ id: Int64) throws -> HistoryRow? {
        try transaction.first(
            "SELECT \(HistoryRow.stored.names) FROM history WHERE id = ?", [id], HistoryRow.init)
    }

    /// The latest decision about an operation that can be undone: the id of its entry; nil if there is
    /// none.
    func decision(about id: OperationID) throws -> Int64? {
        try transaction.integer(
            """
            SELECT max(id) FROM history WHERE op_id = ? AND undoable = 1
              AND kind IN ('resolved', 'discarded') AND undone_by IS NULL
            """, [id])
    }

    /// Records which entry undid an entry.
    func markUndone(_ entry: HistoryRow, by undoing: Int64) throws {
        try transaction.run("UPDATE history SET undone_by = ? WHERE id = ?", [undoing, entry.id])
    }

    /// The undo point of an entry; nil if the entry is no decision.
    func undoPoint(of entry: HistoryRow) throws -> UndoPoint? {
        try transaction.first(UndoPoint.select, [entry.id], UndoPoint.init)?.whole(of: entry)
    }
}

public enum HistoryKind: String, Codable, Sendable, Hashable, CaseIterable {
    case write, sent, conflict, merged, resolved, quarantined, discarded, retried, edited,
        pulled,
        purged, undone, failed
}

/// One thing that happened.
public struct HistoryEntry: Codable, Sendable, Hashable {
    public var id: Int64
    /// Whose it is: `anonymous`, or the key of a user.
    public var identity: String
    public var at: Instant
    public var kind: HistoryKind
    public var actor: Actor.Kind
    /// The name of the capability address that the client used; null for none.
    public var client: String?
    public var table: String?
    public var itemID: String?
    public var operationID: OperationID?
    /// A short text of the item.
    public var title: String?
    public var before: Columns?
    public var after: Columns?
    /// One sentence for a person.
    public var summary: String
    public var undoable: Bool
    /// The entry that undid this one.
    public var undoneBy: Int64?
}

struct HistoryRow: Stored {
    var id: Int64 = 0
    /// In milliseconds since 1970.
    var at: Int64
    /// Nil for one that this version does not know.
    var kind: HistoryKind?
    var actor: Actor?
    var tableID: Int64?
    var itemID: String?
    var operationID: OperationID?
    var before: Columns?
    var after: Columns?
    var summary: String
    var isUndoable = false
    var undoneBy: Int64?
    /// The table as first spelled; in ``listed`` rows.
    var table: String?
    /// The operation's title; in ``listed`` rows.
    var title: String?

    static let stored = StoredColumns<HistoryRow>(
        "history", blank: HistoryRow(at: 0, summary: ""),
        [
            .init("id", \.id, .assigned), .init("at", \.at, .fixed), .init("kind", \.kind, .fixed),
            .init("actor", \.actor, .fixed), .init("table_id", \.tableID, .fixed),
            .init("item_id", \.itemID, .fixed), .init("op_id", \.operationID, .fixed),
            .init("before", \.before, .fixed), .init("after", \.after, .fixed),
            .init("summary", \.summary, .fixed), .init("undoable", \.isUndoable, .fixed),
            .init("undone_by", \.undoneBy),
        ])
    /// With the names of its table and its operation.
    static let listed = stored.joined([
        .init("tables.name", \.table, .joined), .init("operations.title", \.title, .joined),
    ])
}

extension HistoryEntry {
    /// Reads a row of ``HistoryRow/listed``.
    init?(_ row: StatementRow, identity: String) {
        guard let entry = HistoryRow.listed.read(row), let kind = entry.kind,
            let actor = entry.actor
        else { return nil }
        self.init(
            id: entry.id, identity: identity, at: Instant(milliseconds: entry.at), kind: kind,
            actor: actor.kind, client: actor.clientName, table: entry.table, itemID: entry.itemID,
            operationID: entry.operationID,
            title: entry.title ?? (entry.after ?? entry.before).flatMap(ItemTitle.of),
            before: entry.before, after: entry.after, summary: entry.summary,
            undoable: entry.isUndoable && entry.undoneBy == nil, undoneBy: entry.undoneBy)
    }
}

/// An operation and its item before a decision. Undoing the decision restores them.
struct UndoPoint {
    /// The entry of the decision; 0 until it is stored.
    var entry: Int64 = 0
    var operation: TableOperation
    /// The item as the operation leaves it (``TableOperation/result``).
    var mine: Columns
    var mineDeleted: Bool
    /// The backend's row as it was known.
    var server: ServerSide
    /// The item that "keep both" inserted with my columns.
    var copy: ItemID?

    /// - Parameter isFollowed: whether the row has the changes of further operations too.
    init(
        _ operation: TableOperation, _ row: ItemRow, _ server: ServerSide, isFollowed: Bool
    ) {
        self.operation = operation
        mine = isFollowed ? operation.result : row.columns
        mineDeleted = isFollowed ? operation.kind == .delete : row.deleted
        self.server = server
    }

    private init(of operation: TableOperation) {
        (self.operation, mine, mineDeleted, server) = (operation, Columns(), false, .none)
    }
}

extension UndoPoint: Stored {
    static let stored = StoredColumns<UndoPoint>(
        "undo_points", blank: UndoPoint(of: TableOperation.stored.blank),
        TableOperation.stored.copied(as: \UndoPoint.operation) + [
            .init("history", \.entry, .key), .init("mine", \.mine),
            .init("mine_deleted", \.mineDeleted), .init("server", \.server.columns),
            .init("server_deleted", \.server.isDeleted), .init("server_version", \.server.version),
            .init("server_updated_at", \.server.updatedAt),
            .init("copy_id", get: \.copy?.text) { point, id in
                point.copy = id.map { ItemID(stored: $0, kind: point.operation.itemID.kind) }
            },
        ])

    /// Selects the undo point of an entry.
    static let select = """
        SELECT \(stored.names) FROM undo_points JOIN tables ON tables.id = undo_points.table_id
        WHERE history = ?
        """

    /// As it is stored. Equal texts are stored once: an empty `mine` means the entry's `before`, and an empty
    /// `payload` means `mine`.
    func kept(for entry: Int64, before: Columns?) -> UndoPoint {
        var kept = self
        kept.entry = entry
        if operation.payload?.text == mine.text { kept.operation.payload = Columns(stored: "") }
        if before?.text == mine.text { kept.mine = Columns(stored: "") }
        return kept
    }

    /// What ``kept(for:before:)`` was made of.
    func whole(of entry: HistoryRow) -> UndoPoint {
        var whole = self
        if mine.text.isEmpty { whole.mine = entry.before ?? Columns() }
        if operation.payload?.text.isEmpty == true { whole.operation.payload = whole.mine }
        return whole
    }
}

/// Who or what did something: made a write, or caused an entry of history.
public enum Actor: RawRepresentable, Sendable, Hashable {
    /// An app through `/tables`.
    case client
    /// An app with its own capability address, by the address's name.
    case namedClient(String)
    /// A person through the dashboard or a command.
    case person
    /// The engine: an answer of the backend, or a policy.
    case engine

    /// Reads an actor's stored text.
    public init?(rawValue: String) {
        switch rawValue {
        case "client": self = .client
        case "person": self = .person
        case "engine": self = .engine
        default:
            guard rawValue.hasPrefix(Self.namePrefix) else { return nil }
            self = .namedClient(String(rawValue.dropFirst(Self.namePrefix.count)))
        }
    }

    /// The actor's stored text.
    public var rawValue: String {
        switch self {
        case .client: "client"
        case .namedClient(let name): Self.namePrefix + name
        case .person: "person"
        case .engine: "engine"
        }
    }

    /// An actor without a name.
    public enum Kind: String, Codable, Sendable, Hashable, CaseIterable {
        case client, person, engine
    }

    public var kind: Kind {
        switch self {
        case .client, .namedClient: .client
        case .person: .person
        case .engine: .engine
        }
    }

    /// Whether it is an app that uses `/tables` of this store.
    public var isClient: Bool {
        switch self {
        case .client, .namedClient: true
        case .person, .engine: false
        }
    }

    /// The name of the client's capability address; nil for every other actor.
    public var clientName: String? {
        switch self {
        case .namedClient(let name): name
        case .client, .person, .engine: nil
        }
    }

    private static let namePrefix = "client:"
}
