import TablesProtocol

extension Transaction {
    /// Undoes an entry of history. Nothing is taken back from the ledger, and no value that another
    /// writer set since is overwritten.
    ///
    /// - A decision, a discard: ``undo(_:_:_:)``.
    /// - A purge: all the changes that it gave up.
    /// - A write: ``undoWrite(_:_:)``.
    func undo(_ entry: Int64) throws -> ActionOutcome {
        guard let entry = try historyEntry(entry) else { return .notFound }
        guard entry.isUndoable, let table = try table(id: entry.tableID ?? 0) else {
            return .refused(reason: "This cannot be undone.")
        }
        if entry.undoneBy != nil { return .refused(reason: "It was undone already.") }
        if entry.kind == .purged { return try undoPurge(entry, table) }
        return try undo(entry, table)
    }

    private func undo(_ entry: HistoryRow, _ table: TableRecord) throws -> ActionOutcome {
        if let point = try undoPoint(of: entry.id) { return try undo(entry, point, table) }
        return try undoWrite(entry, table)
    }

    /// Brings back the changes that a purge gave up, in the order in which they were made; its items
    /// come with the next pull.
    private func undoPurge(_ purge: HistoryRow, _ table: TableRecord) throws -> ActionOutcome {
        let entries = try all(
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
        try note(
            purge,
            undoneBy: try record(
                .undone, actor: .person, tableID: table.id, summary: "Undone: \(purge.summary)"))
        return last
    }

    /// Writes down that an entry was undone, and gives the item's last open operation.
    func finishUndo(
        _ entry: HistoryRow, of id: ItemID, before: Columns?, _ table: TableRecord
    ) throws -> ActionOutcome {
        let row = try row(table, exactly: id)
        let undoing = try record(
            .undone, actor: .person, tableID: table.id, item: id, before: before,
            after: row?.visible, summary: "Undone: \(entry.summary)")
        try note(entry, undoneBy: undoing)
        let last = try chain(of: row).last
        emit(.item, table: table.name, item: id, operation: last?.id)
        if let last { emit(last.state == .conflict ? .conflict : .operation, last) }
        return .done(last?.summary(identity: identity))
    }

    private func note(_ entry: HistoryRow, undoneBy undoing: Int64) throws {
        try run("UPDATE history SET undone_by = ? WHERE id = ?", [undoing, entry.id])
    }
}
