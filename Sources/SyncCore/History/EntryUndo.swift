import TablesProtocol

/// Undoes entries of history.
struct EntryUndo {
    let transaction: Transaction
    private var events: EventLog { transaction.events }
    private var history: HistoryLog { transaction.history }
    private var items: ItemTable { transaction.items }
    private var queue: OperationQueue { transaction.queue }
    private var tables: TableRecords { transaction.tables }
    private var decisionUndo: DecisionUndo { DecisionUndo(transaction: transaction) }
    private var writeUndo: WriteUndo { WriteUndo(transaction: transaction) }

    /// Undoes an entry of history. The ledger is not reduced, and no later value of another writer is
    /// overwritten.
    ///
    /// - A decision or a discard: see ``DecisionUndo``.
    /// - A purge: restores all operations that it discarded.
    /// - A write: see ``WriteUndo``.
    func undo(_ entry: Int64) throws -> ActionOutcome {
        guard let entry = try history.entry(entry) else { return .notFound }
        guard entry.isUndoable, let table = try tables.table(id: entry.tableID ?? 0) else {
            return .refused(reason: "This cannot be undone.")
        }
        if entry.undoneBy != nil { return .refused(reason: "It was undone already.") }
        if entry.kind == .purged { return try undoPurge(entry, table) }
        return try undo(entry, table)
    }

    private func undo(_ entry: HistoryRow, _ table: TableRecord) throws -> ActionOutcome {
        if let point = try history.undoPoint(of: entry.id) {
            return try decisionUndo.undo(entry, point, table)
        }
        return try writeUndo.undo(entry, table)
    }

    /// Restores the operations that a purge discarded, in their order. The items come with the next pull.
    private func undoPurge(_ purge: HistoryRow, _ table: TableRecord) throws -> ActionOutcome {
        let entries = try transaction.all(
            """
            SELECT \(HistoryRow.columns) FROM history WHERE id < ?1 AND table_id = ?2 AND at = ?3
              AND kind = 'discarded' AND undone_by IS NULL
              AND id > coalesce((SELECT max(id) FROM history
                WHERE id < ?1 AND (kind <> 'discarded' OR at <> ?3 OR table_id <> ?2)), 0)
            ORDER BY id DESC
            """, [purge.id, table.id, purge.at], HistoryRow.init)
        var last = ActionOutcome.refused(reason: "Its changes were brought back already.")
        for entry in entries {
            let outcome = try undo(entry, table)
            if case .done = outcome { last = outcome }
        }
        guard case .done = last else { return last }
        try history.markUndone(
            purge,
            by: try history.record(
                .undone, actor: .person, tableID: table.id, summary: "Undone: \(purge.summary)"))
        return last
    }

    /// Records that an entry was undone.
    /// - Returns: `done` with the item's last open operation.
    func finish(
        _ entry: HistoryRow, of id: ItemID, before: Columns?, _ table: TableRecord
    ) throws -> ActionOutcome {
        let row = try items.row(table, exactly: id)
        let undoing = try history.record(
            .undone, actor: .person, tableID: table.id, item: id, before: before,
            after: row?.visible, summary: "Undone: \(entry.summary)")
        try history.markUndone(entry, by: undoing)
        let last = try queue.chain(of: row).last
        events.emit(.item, table: table.name, item: id, operation: last?.id)
        if let last { events.emit(last.state == .conflict ? .conflict : .operation, last) }
        return .done(last?.summary(identity: transaction.identity))
    }
}
