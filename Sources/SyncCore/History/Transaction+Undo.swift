import TablesProtocol

extension Transaction {
    /// Undoes an entry of history by a new write: the item becomes what it was before the entry, as
    /// far as the entry changed it. Before the write was sent this restores the row and the two
    /// cancel each other; afterwards it is an operation with the present base, which may conflict.
    func undo(_ entry: Int64) throws -> ActionOutcome {
        guard let entry = try historyEntry(entry) else { return .notFound }
        guard entry.isUndoable, let table = try table(id: entry.tableID ?? 0) else {
            return .refused(reason: "This cannot be undone.")
        }
        if entry.undoneBy != nil { return .refused(reason: "It was undone already.") }
        if entry.kind == .purged { return try undoPurge(entry, table) }
        return try undo(entry, table)
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

    private func undo(_ entry: HistoryRow, _ table: TableRecord) throws -> ActionOutcome {
        guard let id = entry.itemID else { return .refused(reason: "This cannot be undone.") }
        let itemID = ItemID(stored: id, kind: table.idKind)
        guard let row = try row(table, itemID) ?? forgotten(itemID, entry, table) else {
            return .refused(reason: "The item is not in the store any more.")
        }
        if let last = try chain(of: row).last, last.state == .conflict {
            return .refused(reason: "The item is in conflict: decide that first.")
        }
        guard let edit = try undoing(entry, row, table) else {
            return .refused(reason: "The item is as it was before already.")
        }
        let outcome = try make(edit, WriteRules())
        guard outcome.isSuccess else {
            return .refused(reason: "The item has changed too much since.")
        }
        let undoing = try record(
            .undone, actor: .person, tableID: table.id, item: row.id, before: row.visible,
            after: try self.row(table, exactly: row.id)?.visible,
            summary: "Undone: \(entry.summary)"
        )
        try note(entry, undoneBy: undoing)
        return .done(try lastOperation(of: row, table))
    }

    private func note(_ entry: HistoryRow, undoneBy undoing: Int64) throws {
        try run("UPDATE history SET undone_by = ? WHERE id = ?", [undoing, entry.id])
    }

    /// A row that a purge has forgotten after its change was given up, as the entry saw it.
    private func forgotten(
        _ id: ItemID, _ entry: HistoryRow, _ table: TableRecord
    ) throws -> ItemRow? {
        guard entry.kind == .discarded else { return nil }
        var row = ItemRow(new: id, tableID: table.id)
        guard let columns = entry.after else {
            row.deleted = true
            return row
        }
        row.columns = columns
        row.serverVersion = entry.serverVersion
        try turn(&row, from: row, version: entry.serverVersion, holds: false)
        return row
    }

    /// The write that makes the item what it was; nil when it is so.
    private func undoing(
        _ entry: HistoryRow, _ row: ItemRow, _ table: TableRecord
    ) throws -> ItemEdit? {
        let kind: OperationKind
        var columns = Columns()
        switch (entry.before, row.visible) {
        case (nil, nil):
            return nil
        case (nil, .some):
            kind = .delete
        case (let before?, .some):
            kind = .update
            for name in before.changedNames(from: entry.after ?? Columns()) {
                columns[name] = before[name] ?? .null
            }
            if columns.isEmpty { return nil }
        case (let before?, nil):
            let last = try chain(of: row).last
            let isPendingDelete = last?.kind == .delete && last?.mayHaveReached == false
            kind = row.serverDeleted && !isPendingDelete ? .undelete : .insert
            columns = before
        }
        let write = LocalWrite(
            table: table.name, action: .update(row.id, columns),
            generation: try generation(of: entry), actor: .person)
        return ItemEdit(
            table: table, row: row, chain: try chain(of: row), kind: kind, columns: columns,
            write: write)
    }

    private func generation(of entry: HistoryRow) throws -> Generation {
        let raw = try integer(
            "SELECT generation FROM operations WHERE op_id = ?", [entry.operationID])
        return raw.flatMap { Generation(rawValue: Int($0)) } ?? .mobileApps
    }

    private func lastOperation(
        of row: ItemRow, _ table: TableRecord
    ) throws -> OperationSummary? {
        try chain(of: self.row(table, exactly: row.id)).last?.summary(identity: identity)
    }
}
