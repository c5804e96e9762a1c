import Storage
import TablesProtocol

/// An operation and its item as they were before a decision: what undoing the decision brings back.
struct UndoPoint {
    var operation: TableOperation
    /// The item's columns here.
    var mine: Columns
    var mineDeleted: Bool
    /// The backend's side as it was known.
    var server: ServerSide
    /// The item that keeping both has made of mine.
    var copy: ItemID?

    init(_ operation: TableOperation, _ row: ItemRow, _ server: ServerSide) {
        self.operation = operation
        mine = row.columns
        mineDeleted = row.deleted
        self.server = server
    }
}

extension UndoPoint {
    /// The point of an entry.
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

extension Transaction {
    /// The point that undoing an entry goes back to; nil for an entry that decided nothing.
    func undoPoint(of entry: Int64) throws -> UndoPoint? {
        try first(UndoPoint.select, [entry], UndoPoint.init)
    }

    /// Keeps a point with its entry. A text that is there already is not kept a second time: an empty
    /// `mine` is what the entry has as `before`, an empty `payload` is `mine`.
    func save(_ point: UndoPoint, of entry: Int64, before: Columns?) throws {
        let operation = point.operation
        let mine = point.mine.text
        let payload = operation.payload?.text
        try run(
            """
            INSERT INTO undo_points(history, seq, op_id, table_id, item_id, kind, state, reason,
              revision, base_version, base_row, changed_columns, payload, maybe_applied, parameters,
              generation, conditional, made_id, highest_id, traceparent, actor, title, attempts,
              created_at, first_attempt_at, last_attempt_at, next_attempt_at, last_status,
              last_error, successor_of, may_arrive_late, mine, mine_deleted, server, server_deleted,
              server_version, server_updated_at, copy_id, headers)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
              ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                entry, operation.seq, operation.id, operation.tableID, operation.itemID.text,
                operation.kind.rawValue, operation.state.rawValue, operation.reason,
                operation.revision, operation.baseVersion, operation.baseRow?.text,
                JSONList.text(operation.changedColumns), payload == mine ? "" : payload,
                operation.maybeApplied, JSONList.text(operation.parameters),
                operation.generation.rawValue, operation.conditional, operation.madeID,
                operation.highestID, operation.traceparent, operation.actor.rawValue,
                operation.title, operation.attempts, operation.createdAt.milliseconds,
                operation.firstAttemptAt?.milliseconds, operation.lastAttemptAt?.milliseconds,
                operation.nextAttemptAt?.milliseconds, operation.lastStatus, operation.lastError,
                operation.successorOf, operation.mayArriveLate, mine == before?.text ? "" : mine,
                point.mineDeleted, point.server.columns?.text, point.server.isDeleted,
                point.server.version, point.server.updatedAt, point.copy?.text,
                operation.headers.stored,
            ])
    }
}
