import Storage
import TablesProtocol

struct EntryUndo: InTransaction {
    let transaction: Transaction
    private var decisionUndo: DecisionUndo { DecisionUndo(transaction: transaction) }

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
        if let point = try history.undoPoint(of: entry) {
            return try decisionUndo.undo(entry, point, table)
        }
        return try writeUndo.undo(entry, table)
    }

    /// Restores the operations that a purge discarded, in their order. The items come with the next pull.
    private func undoPurge(_ purge: HistoryRow, _ table: TableRecord) throws -> ActionOutcome {
        let entries = try transaction.all(
            """
            SELECT \(HistoryRow.stored.names) FROM history WHERE id < ?1 AND table_id = ?2 AND at = ?3
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

/// Reverts what a write did to an item.
struct WriteUndo: InTransaction {
    let transaction: Transaction

    /// Undoes a write: an inserted item is deleted, a deleted one restored, and an update's columns are set
    /// back.
    func undo(_ entry: HistoryRow, _ table: TableRecord) throws -> ActionOutcome {
        guard let id = entry.itemID else { return .refused(reason: "This cannot be undone.") }
        let change = WrittenChange(
            operationID: entry.operationID, before: entry.before, after: entry.after)
        return try revert(
            change, entry, of: ItemID(stored: id, kind: table.idKind), table)
    }

    /// Reverts a change with a new one that starts from the item's present row.
    ///
    /// 1. Columns that still have the change's values are set back. If the change was not sent yet, this
    ///    merges into its operation.
    /// 2. If another writer has changed such a column since, nothing is sent: the new change becomes a
    ///    conflict. If the item also has open operations, the undo is refused.
    func revert(
        _ change: WrittenChange, _ entry: HistoryRow, of id: ItemID, _ table: TableRecord
    ) throws -> ActionOutcome {
        guard let row = try items.row(table, id) else {
            return .refused(reason: "The item is not in the store any more.")
        }
        let chain = try queue.chain(of: row)
        if chain.last?.state == .conflict {
            return .refused(reason: "The item is in conflict: decide that first.")
        }
        if change.before == nil, let reason = try refusalOfDelete(change) {
            return .refused(reason: reason)
        }
        let left = try resultingRow(of: change)
        guard let undoing = UndoneColumns(change, left: left, now: row.visible) else {
            return .refused(reason: "The item is as it was before already.")
        }
        guard undoing.changedSince.isEmpty || chain.isEmpty else {
            return .refused(reason: "The item was changed again since: undo that first.")
        }
        let edit = try edit(undoing, row, chain, entry, table)
        let outcome = try collapsing.apply(edit, WriteRules(keepsPlace: true))
        guard outcome.isSuccess else {
            return .refused(reason: "The item has changed too much since.")
        }
        if edit.kind == .undelete { try restoreColumns(of: edit, table) }
        if !undoing.changedSince.isEmpty { try openConflict(undoing, of: row, table) }
        return try entryUndo.finish(entry, of: row.id, before: row.visible, table)
    }

    /// Why undoing an insert must not delete the item; nil if it may.
    ///
    /// 1. The backend had the item already: the insert was refused for that, or sent as an update.
    /// 2. The insert's operation or its attempts are no longer kept, so this is not known.
    private func refusalOfDelete(_ change: WrittenChange) throws -> String? {
        guard let id = change.operationID else { return nil }
        let notKnown =
            "The requests of this change are no longer kept (keep-attempts), so the backend may have had "
            + "the item before. Delete it instead."
        guard let operation = try queue.operation(id: id) else { return notKnown }
        // The row was deleted there, and this brought it back: deleting it leaves it as it was.
        if operation.kind == .undelete, operation.state == .done || operation.state.isOpen {
            return nil
        }
        let collision = try transaction.integer(
            """
            SELECT 1 FROM attempts
            WHERE operation = ?1 AND method = 'POST' AND (?2 <> ?3 OR status IN (409, 412))
            """,
            [operation.seq, operation.kind.rawValue, OperationKind.insert.rawValue])
        if collision != nil {
            return "The backend had this item already, so nothing was inserted. Delete it instead."
        }
        let kept = try transaction.integer(
            "SELECT count(*) FROM attempts WHERE operation = ?", [operation.seq])
        return Int(kept ?? 0) < operation.attempts ? notKnown : nil
    }

    /// The row that the change resulted in: on the backend if it was sent, else locally. The backend may
    /// have changed what was sent. Columns that were not sent with it, because a decision removed them or a
    /// later write replaced them, have the change's local value.
    private func resultingRow(of change: WrittenChange) throws -> Columns? {
        guard let operation = change.operationID, let after = change.after else { return nil }
        let sent = try transaction.first(
            """
            SELECT \(HistoryRow.stored.names) FROM history WHERE op_id = ? AND kind = 'sent'
            ORDER BY id DESC LIMIT 1
            """, [operation], HistoryRow.init)
        guard var left = sent?.after else { return after }
        if let carried = try queue.operation(id: operation)?.changes {
            let (sent, written) = (ColumnValues(carried), ColumnValues(after))
            let others = after.changedNames(from: change.before ?? Columns()).filter { name in
                sent[name].map { !$0.isSame(as: written[name] ?? .null) } ?? true
            }
            left.merge(after.picking(others))
        }
        return left
    }

    private func edit(
        _ undoing: UndoneColumns, _ row: ItemRow, _ chain: [TableOperation],
        _ entry: HistoryRow, _ table: TableRecord
    ) throws -> ItemEdit {
        let kind: OperationKind
        var columns = Columns()
        switch undoing.action {
        case .delete: kind = .delete
        case .set(let old): (kind, columns) = (.update, old)
        case .restore(let old):
            let isPendingDelete = chain.last?.kind == .delete && chain.last?.mayHaveReached == false
            kind = row.isOnBackend && !isPendingDelete ? .undelete : .insert
            columns = old
        }
        let write = LocalWrite(
            table: table.name, action: .update(row.id, columns),
            generation: try generation(of: entry), actor: .person)
        return ItemEdit(
            table: table, row: row, chain: chain, kind: kind, columns: columns, write: write)
    }

    /// Sets the columns of a restored item to their values before the delete, where the backend's differ.
    private func restoreColumns(of restored: ItemEdit, _ table: TableRecord) throws {
        guard let row = try items.row(table, exactly: restored.row.id) else { return }
        let names = restored.columns.writtenNames(from: row.columns)
        let columns = restored.columns.picking(names)
        guard !columns.isEmpty else { return }
        var write = restored.write
        write.action = .update(row.id, columns)
        _ = try collapsing.apply(
            ItemEdit(
                table: table, row: row, chain: try queue.chain(of: row), kind: .update,
                columns: columns,
                write: write), WriteRules())
    }

    /// Makes the new change a conflict. Its base is what the undone change resulted in, not another
    /// writer's later change.
    private func openConflict(
        _ undoing: UndoneColumns, of row: ItemRow, _ table: TableRecord
    ) throws {
        guard let row = try items.row(table, exactly: row.id),
            var operation = try queue.chain(of: row).last
        else { return }
        var base = operation.baseRow ?? Columns()
        base.merge(undoing.changedSince)
        operation.baseRow = base
        operation.becomeConflict("It was changed after what is undone here.")
        if operation.kind != .delete { operation.setChange(to: row.columns) }
        try queue.save(&operation)
    }

    private func generation(of entry: HistoryRow) throws -> Generation {
        let raw = try transaction.integer(
            "SELECT generation FROM operations WHERE op_id = ?", [entry.operationID])
        return raw.flatMap { Generation(rawValue: Int($0)) } ?? .mobileApps
    }
}

/// The effect of a write on an item.
struct WrittenChange {
    var operationID: OperationID?
    /// The columns before; nil if the item did not exist or was deleted.
    var before: Columns?
    /// The columns after; nil if the item does not exist or is deleted.
    var after: Columns?
}

/// The columns that an undo sets back. Pure.
struct UndoneColumns {
    /// What the undo does to the item.
    enum Action {
        case delete
        case set(Columns)
        case restore(Columns)
    }
    var action: Action
    /// The columns among them that were changed since, with the values that the undone change resulted in.
    var changedSince = Columns()

    /// - Parameters:
    ///   - left: the row that the change resulted in.
    ///   - now: the item's present columns; nil if it does not exist or is deleted.
    init?(_ change: WrittenChange, left: Columns?, now: Columns?) {
        switch (change.before, now) {
        case (nil, nil): return nil
        case (nil, let now?):
            action = .delete
            changedSince = Self.changed(now.changedNames(from: left ?? now), from: left)
        case (let before?, nil):
            guard change.after == nil else { return nil }
            action = .restore(before)
        case (let before?, let now?):
            guard let after = change.after else { return nil }
            // A date that was only written in another way is set back if it is still written so.
            var (writtenValues, presentValues) = (ColumnValues(after), ColumnValues(now))
            let set = Columns(
                before.picking(before.writtenNames(from: after)).all.filter {
                    let written = writtenValues.comparable($0.name)
                    let present = presentValues.comparable($0.name)
                    return written.isSame(as: $0.value)
                        ? present.isSame(as: written, dates: .digitsAndOffset)
                        : !present.isSame(as: $0.value)
                })
            if set.isEmpty { return nil }
            action = .set(set)
            var leftValues = ColumnValues(left ?? after)
            changedSince = Self.changed(
                set.names.filter {
                    !presentValues.comparable($0).isSame(as: leftValues.comparable($0))
                }, from: left)
        }
    }

    private static func changed(_ names: [String], from left: Columns?) -> Columns {
        (left ?? Columns()).picking(names)
    }
}
