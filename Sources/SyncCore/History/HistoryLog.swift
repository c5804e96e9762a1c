import Storage
import TablesProtocol

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

    /// Adds an entry about an operation.
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
