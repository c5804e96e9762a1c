import TablesProtocol

/// Takes back what a write did to an item.
struct WriteUndo {
    let transaction: Transaction
    private var items: ItemTable { transaction.items }
    private var queue: OperationQueue { transaction.queue }
    private var collapsing: Collapsing { Collapsing(transaction: transaction) }
    private var entryUndo: EntryUndo { EntryUndo(transaction: transaction) }

    /// Undoes a write: an insert is deleted, a deleted item restored, an update takes back the columns
    /// that it changed.
    func undo(_ entry: HistoryRow, _ table: TableRecord) throws -> ActionOutcome {
        guard let id = entry.itemID else { return .refused(reason: "This cannot be undone.") }
        let change = WrittenChange(
            operationID: entry.operationID, before: entry.before, after: entry.after)
        return try takeBack(
            change, entry, of: ItemID(stored: id, kind: table.idKind), table)
    }

    /// Takes back what a change did, by a new one that starts from the item as it is.
    ///
    /// 1. Columns that are as the change left them are set back. Before the change was sent this
    ///    merges into its operation.
    /// 2. Where another writer has changed such a column since, nothing is sent: the new change is a
    ///    conflict, unless the item has open changes, which go first.
    func takeBack(
        _ change: WrittenChange, _ entry: HistoryRow, of id: ItemID, _ table: TableRecord
    ) throws -> ActionOutcome {
        guard let row = try items.row(table, id) else {
            return .refused(reason: "The item is not in the store any more.")
        }
        let chain = try queue.chain(of: row)
        if chain.last?.state == .conflict {
            return .refused(reason: "The item is in conflict: decide that first.")
        }
        if change.before == nil, try becameUpdate(change) {
            return .refused(
                reason:
                    "The backend had this item already, so nothing was inserted. Delete it instead."
            )
        }
        let left = try leftBehind(change)
        guard let undoing = UndoneColumns(change, left: left, now: row.visible) else {
            return .refused(reason: "The item is as it was before already.")
        }
        guard undoing.changedSince.isEmpty || chain.isEmpty || transaction.has(.undoOverwrites)
        else {
            return .refused(reason: "The item was changed again since: undo that first.")
        }
        let edit = try edit(undoing, row, chain, entry, table)
        let outcome = try collapsing.make(edit, WriteRules())
        guard outcome.isSuccess else {
            return .refused(reason: "The item has changed too much since.")
        }
        if edit.kind == .undelete { try giveColumns(to: edit, table) }
        if !undoing.changedSince.isEmpty, !transaction.has(.undoOverwrites) {
            try openConflict(undoing, of: row, table)
        }
        return try entryUndo.finish(entry, of: row.id, before: row.visible, table)
    }

    /// Whether an insert met an item that the backend had already: it was refused for that, or sent as a
    /// change.
    private func becameUpdate(_ change: WrittenChange) throws -> Bool {
        guard let id = change.operationID, let operation = try queue.operation(id: id) else {
            return false
        }
        return try transaction.integer(
            """
            SELECT 1 FROM attempts
            WHERE operation = ?1 AND method = 'POST' AND (?2 <> ?3 OR status IN (409, 412))
            """,
            [operation.seq, operation.kind.rawValue, OperationKind.insert.rawValue]) != nil
    }

    /// What the change left at the backend, which may have made its own of what was sent; what it left
    /// here as long as it was not sent. Columns that a decision took out of it before are another's, and
    /// those that a later write of the same operation changed are that one's.
    private func leftBehind(_ change: WrittenChange) throws -> Columns? {
        guard let operation = change.operationID, let after = change.after else { return nil }
        let sent = try transaction.first(
            """
            SELECT \(HistoryRow.columns) FROM history WHERE op_id = ? AND kind = 'sent'
            ORDER BY id DESC LIMIT 1
            """, [operation], HistoryRow.init)
        guard var left = sent?.after else { return after }
        if let carried = try queue.operation(id: operation)?.changes {
            for name in after.changedNames(from: change.before ?? Columns())
            where carried[name].map({ !$0.isSame(as: after.value(name)) }) ?? true {
                left[name] = after[name] ?? .null
            }
        }
        return left
    }

    private func edit(
        _ undoing: UndoneColumns, _ row: ItemRow, _ chain: [TableOperation],
        _ entry: HistoryRow, _ table: TableRecord
    ) throws -> ItemEdit {
        let kind: OperationKind
        var columns = Columns()
        switch undoing.way {
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

    /// Gives an item that is brought back the columns that it had, where the backend's are others.
    private func giveColumns(to restored: ItemEdit, _ table: TableRecord) throws {
        guard let row = try items.row(table, exactly: restored.row.id) else { return }
        let names = restored.columns.changedNames(from: row.columns)
        let columns = Columns(names.map { Columns.Column($0, restored.columns[$0] ?? .null) })
        guard !columns.isEmpty else { return }
        var write = restored.write
        write.action = .update(row.id, columns)
        _ = try collapsing.make(
            ItemEdit(
                table: table, row: row, chain: try queue.chain(of: row), kind: .update,
                columns: columns,
                write: write), WriteRules())
    }

    /// Makes the new change a conflict: its base is what the undone change had left, not what another
    /// writer made of it since.
    private func openConflict(
        _ undoing: UndoneColumns, of row: ItemRow, _ table: TableRecord
    ) throws {
        guard let row = try items.row(table, exactly: row.id),
            var operation = try queue.chain(of: row).last
        else { return }
        var base = operation.baseRow ?? Columns()
        for column in undoing.changedSince.all { base[column.name] = column.value }
        operation.baseRow = base
        operation.state = .conflict
        operation.reason = "It was changed after what is undone here."
        if operation.kind != .delete { operation.take(row.columns) }
        try queue.save(&operation)
    }

    private func generation(of entry: HistoryRow) throws -> Generation {
        let raw = try transaction.integer(
            "SELECT generation FROM operations WHERE op_id = ?", [entry.operationID])
        return raw.flatMap { Generation(rawValue: Int($0)) } ?? .mobileApps
    }
}

/// What a write did to an item, for taking it back.
struct WrittenChange {
    /// The operation that carried it.
    var operationID: OperationID?
    /// The columns before; nil when there was nothing to see.
    var before: Columns?
    /// The columns after; nil when there was nothing to see any more.
    var after: Columns?
}

/// Which columns undoing a change sets back. Pure.
struct UndoneColumns {
    /// How the item becomes what it was.
    enum Way {
        case delete
        case set(Columns)
        case restore(Columns)
    }
    var way: Way
    /// The columns among them that were changed since, as the undone change had left them.
    var changedSince = Columns()

    /// - Parameters:
    ///   - left: what the change left of the item.
    ///   - now: the item as it is; nil when there is nothing to see.
    init?(_ change: WrittenChange, left: Columns?, now: Columns?) {
        switch (change.before, now) {
        case (nil, nil): return nil
        case (nil, let now?):
            way = .delete
            changedSince = Self.changed(now.changedNames(from: left ?? now), from: left)
        case (let before?, nil):
            guard change.after == nil else { return nil }
            way = .restore(before)
        case (let before?, let now?):
            guard let after = change.after else { return nil }
            let names = before.changedNames(from: after)
            let set = Columns(
                names.map { Columns.Column($0, before[$0] ?? .null) }
                    .filter { !now.value($0.name).isSame(as: $0.value) })
            if set.isEmpty { return nil }
            way = .set(set)
            changedSince = Self.changed(
                set.names.filter { !now.value($0).isSame(as: (left ?? after).value($0)) },
                from: left)
        }
    }

    private static func changed(_ names: [String], from left: Columns?) -> Columns {
        Columns(names.map { Columns.Column($0, left?[$0] ?? .null) })
    }
}
