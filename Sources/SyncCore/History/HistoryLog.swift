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
        try transaction.run(
            """
            INSERT INTO history(at, kind, actor, table_id, item_id, op_id, before, after, summary,
              undoable) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                transaction.now.milliseconds, kind.rawValue, actor.rawValue, tableID, item?.text,
                operation,
                before?.text, after?.text, summary, undoable,
            ])
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
        try save(point, of: entry, before: before)
    }

    func entry(_ id: Int64) throws -> HistoryRow? {
        try transaction.first(
            "SELECT \(HistoryRow.columns) FROM history WHERE id = ?", [id], HistoryRow.init)
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
    func undoPoint(of entry: Int64) throws -> UndoPoint? {
        try transaction.first(UndoPoint.select, [entry], UndoPoint.init)
    }

    /// Stores the undo point of an entry. Equal texts are stored once: an empty `mine` means the entry's
    /// `before`, and an empty `payload` means `mine`.
    func save(_ point: UndoPoint, of entry: Int64, before: Columns?) throws {
        let operation = point.operation
        let mine = point.mine.text
        let payload = operation.payload?.text
        try transaction.run(
            """
            INSERT INTO undo_points(history, seq, op_id, table_id, item_id, kind, state, reason,
              revision, base_version, base_row, changed_columns, payload, maybe_applied, parameters,
              generation, conditional, made_id, highest_id, traceparent, actor, title, attempts,
              created_at, first_attempt_at, last_attempt_at, next_attempt_at, last_status,
              last_error, successor_of, may_arrive_late, mine, mine_deleted, server, server_deleted,
              server_version, server_updated_at, copy_id, headers, tracestate)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
              ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                entry, operation.seq, operation.id, operation.tableID, operation.itemID.text,
                operation.kind.rawValue, operation.state.rawValue, operation.reason,
                operation.revision, operation.baseVersion, operation.baseRow?.text,
                JSONList.text(operation.changedColumns), payload == mine ? "" : payload,
                operation.maybeApplied, JSONList.text(operation.parameters),
                operation.generation.rawValue, operation.conditional, operation.hasGeneratedID,
                operation.highestID, operation.trace?.parent, operation.actor.rawValue,
                operation.title, operation.attempts, operation.createdAt.milliseconds,
                operation.firstAttemptAt?.milliseconds, operation.lastAttemptAt?.milliseconds,
                operation.nextAttemptAt?.milliseconds, operation.lastStatus, operation.lastError,
                operation.successorOf, operation.mayArriveLate, mine == before?.text ? "" : mine,
                point.mineDeleted, point.server.columns?.text, point.server.isDeleted,
                point.server.version, point.server.updatedAt, point.copy?.text,
                operation.headers.stored, operation.trace?.state,
            ])
    }
}

public enum HistoryKind: String, Sendable, Hashable, CaseIterable {
    case write, sent, conflict, merged, resolved, quarantined, discarded, retried, edited,
        pulled,
        purged, undone, failed
}

/// One entry of history with the item's columns before and after.
public struct HistoryEntry: Sendable, Hashable {
    /// The entry's number. Later entries have greater ones.
    public var id: Int64
    public var at: Instant
    public var kind: HistoryKind
    public var actor: Actor
    /// The table as first spelled.
    public var table: String?
    public var itemID: String?
    /// The operation; nil if none was concerned.
    public var operationID: OperationID?
    /// A short text of the item for a person: the operation's while that is stored, else of its columns.
    public var title: String?
    /// The item's columns before; nil if it did not exist or was deleted, and in an entry without columns.
    public var before: JSONText?
    /// The item's columns after; nil if it does not exist or is deleted, and in an entry without columns.
    public var after: JSONText?
    /// One sentence for a person.
    public var summary: String
    /// Whether it can be undone and was not undone yet.
    public var undoable: Bool
    /// The entry that undid this one.
    public var undoneBy: Int64?
}

struct HistoryRow {
    let id: Int64
    let tableID: Int64?
    let itemID: String?
    let operationID: OperationID?
    let before: Columns?
    let after: Columns?
    let summary: String
    let isUndoable: Bool
    let undoneBy: Int64?
    let kind: HistoryKind?
    let at: Int64

    /// The columns in the order in which ``init(_:)`` reads them.
    static let columns = """
        history.id, history.table_id, history.item_id, history.op_id, before, after, summary,
        undoable, undone_by, history.kind, at
        """

    init(_ row: StatementRow) {
        id = row[0]
        tableID = row[1]
        itemID = row[2]
        operationID = row[3]
        before = (row[4] as String?).map { Columns(stored: $0) }
        after = (row[5] as String?).map { Columns(stored: $0) }
        summary = row[6]
        isUndoable = row[7]
        undoneBy = row[8]
        kind = HistoryKind(rawValue: row[9])
        at = row[10]
    }
}

extension HistoryEntry {
    /// The columns in the order in which ``init(_:)`` reads them.
    static let columns = "\(HistoryRow.columns), history.actor, tables.name, operations.title"

    /// Reads an entry with its table's name and its operation's title.
    init?(_ row: StatementRow) {
        let entry = HistoryRow(row)
        guard let kind = entry.kind, let actor = Actor(rawValue: row[11]) else { return nil }
        self.init(
            id: entry.id, at: Instant(milliseconds: entry.at), kind: kind, actor: actor,
            table: row[12], itemID: entry.itemID, operationID: entry.operationID,
            title: row[13] ?? (entry.after ?? entry.before).flatMap(ItemTitle.of),
            before: entry.before?.json, after: entry.after?.json,
            summary: entry.summary,
            undoable: entry.isUndoable && entry.undoneBy == nil, undoneBy: entry.undoneBy)
    }
}

/// An operation and its item before a decision. Undoing the decision restores them.
struct UndoPoint {
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
}

extension UndoPoint {
    /// Selects the undo point of an entry.
    static let select = """
        SELECT \(TableOperation.columns),
          coalesce(nullif(mine, ''), (SELECT before FROM history WHERE id = undo_points.history), '{}'),
          mine_deleted, server, server_deleted, server_version,
          server_updated_at, copy_id
        FROM undo_points JOIN tables ON tables.id = undo_points.table_id WHERE history = ?
        """

    init?(_ row: StatementRow) {
        guard let operation = TableOperation(row) else { return nil }
        self.operation = operation
        let first = TableOperation.columnCount
        mine = Columns(stored: row[first])
        if (row[TableOperation.payloadColumn] as String?)?.isEmpty == true {
            self.operation.payload = mine
        }
        mineDeleted = row[first + 1]
        server = ServerSide(columns: (row[first + 2] as String?).map { Columns(stored: $0) })
        server.isDeleted = row[first + 3]
        server.version = row[first + 4]
        server.updatedAt = row[first + 5]
        copy = (row[first + 6] as String?).map {
            ItemID(stored: $0, kind: operation.itemID.kind)
        }
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

    /// The kind of actor without a name: `client`, `person` or `engine`.
    public var kind: String {
        switch self {
        case .client, .namedClient: Actor.client.rawValue
        case .person, .engine: rawValue
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
