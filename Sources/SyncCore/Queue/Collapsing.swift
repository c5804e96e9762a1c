import TablesProtocol

/// One write on its way into the store: the row and the operations that it meets.
struct ItemEdit {
    let table: TableRecord
    var row: ItemRow
    /// The item's open operations, first to last.
    let chain: [TableOperation]
    let kind: OperationKind
    /// The columns that the write brings, in the table's spelling.
    var columns: Columns
    let write: LocalWrite
    /// The id was made by this store.
    var madeID = false

    /// The write brings back an item that was deleted before the backend ever had it so: to undelete
    /// it there would bring back another row, or none.
    var isOfNewItem: Bool {
        guard kind == .undelete else { return false }
        guard let last = chain.last else { return !row.isOnBackend }
        return last.kind == .delete
            && last.baseRow.map { !row.columns.changedNames(from: $0).isEmpty } ?? false
    }

    /// The row with the write laid over it; its stamp and version are still the old ones.
    var edited: ItemRow {
        var row = row
        switch kind {
        case .insert, .replace: row.columns = columns
        case .update: row.columns.merge(columns)
        case .delete, .undelete: break
        }
        row.deleted = kind == .delete
        return row
    }

    /// What a client is told about the item.
    func outcome(_ row: ItemRow) -> WriteOutcome {
        switch kind {
        case .insert: .inserted(row.item)
        case .update, .replace: .updated(row.item)
        case .delete: .deleted(row.item)
        case .undelete: .undeleted(row.item)
        }
    }

    /// One sentence for the history.
    func summary(after: ItemRow) -> String {
        switch kind {
        case .insert: return "Inserted."
        case .delete: return "Deleted."
        case .undelete: return "Brought back."
        case .update, .replace:
            if row.deleted { return "Brought back and changed." }
            let names = after.columns.changedNames(from: row.columns)
            return names.isEmpty ? "Changed nothing." : "Changed \(names.joined(separator: ", "))."
        }
    }
}

/// Makes an edit one operation with those that its item has, as ``Collapse`` decides.
struct Collapsing {
    let transaction: Transaction
    private var counters: StoreCounters { transaction.counters }
    private var events: EventLog { transaction.events }
    private var history: HistoryLog { transaction.history }
    private var items: ItemTable { transaction.items }
    private var ledger: LedgerTable { transaction.ledger }
    private var queue: OperationQueue { transaction.queue }

    /// Decides what becomes of an edit beside the item's open operations, and does it.
    func make(_ edit: ItemEdit, _ rules: WriteRules) throws -> WriteOutcome {
        let decision = Collapse.decide(
            pending: edit.chain.last.map { Collapse.Pending($0) }, new: edit.kind,
            strictSDK: rules.strictSDK,
            preservesHistory: edit.table.preservesHistory)
        switch decision {
        case .append, .successor:
            return try add(edit)
        case .change(let kind):
            return try change(edit, to: kind)
        case .cancel:
            return try cancel(edit)
        case .nothing:
            try ledger.countCollapsedWrite()
            return edit.outcome(edit.row)
        case .refuse(.alreadyExists):
            return .alreadyExists(edit.row.item)
        case .refuse(.gone):
            return .gone(edit.row.item)
        case .refuse(.strictSDK(let pending, let new)):
            return .invalid(
                "The item has a pending \(pending.rawValue), which \(new.rawValue) may not follow before "
                    + "it is pushed (-1150, as the SDKs say).")
        }
    }

    /// A new operation, first or last of the item's chain.
    private func add(_ edit: ItemEdit) throws -> WriteOutcome {
        var row = edit.edited
        var operation = newOperation(edit)
        operation.take(row.columns)
        if operation.changesNothing {
            try ledger.countCollapsedWrite()
            return edit.outcome(edit.row)
        }
        try queue.insert(&operation)
        if edit.chain.isEmpty {
            row.shadow = operation.kind == .insert ? nil : edit.row.known
            row.pending = operation.seq
        }
        return try finish(edit, &row, operation)
    }

    private func newOperation(_ edit: ItemEdit) -> TableOperation {
        var operation = TableOperation(
            id: transaction.ids.operationID(at: transaction.now), tableID: edit.table.id,
            table: edit.table.name,
            itemID: edit.row.id,
            kind: edit.isOfNewItem && !transaction.has(.deleteForgetsInsert) ? .insert : edit.kind,
            generation: edit.write.generation,
            actor: edit.write.actor, createdAt: transaction.now)
        operation.parameters = edit.write.parameters
        operation.headers = edit.write.headers
        operation.conditional = edit.write.isConditional
        operation.traceparent = edit.write.traceparent
        operation.madeID = edit.madeID
        operation.title = ItemTitle.of(edit.row.columns)
        operation.successorOf = edit.chain.last?.seq
        if operation.kind != .insert {
            operation.baseRow = edit.row.columns
            operation.baseVersion = edit.chain.isEmpty ? edit.row.serverVersion : nil
        }
        return operation
    }

    /// The last operation is changed in place; one that no longer changes anything is closed.
    private func change(_ edit: ItemEdit, to kind: OperationKind) throws -> WriteOutcome {
        guard var last = edit.chain.last else { return try add(edit) }
        var row = edit.edited
        try ledger.countCollapsedWrite()
        last.kind = kind
        last.take(row.columns)
        if !edit.write.parameters.isEmpty { last.parameters = edit.write.parameters }
        last.headers.take(edit.write.headers)
        last.generation = edit.write.generation
        last.conditional = last.conditional || edit.write.isConditional
        if last.changesNothing {
            try queue.close(&last, .collapsed, reason: "Changed back before it was sent.")
            if edit.chain.count == 1 { row.takeShadow() }
        } else {
            if last.state == .quarantined || last.waitsFor != nil {
                last.state = .queued
                last.reason = nil
                last.nextAttemptAt = nil
                last.waitsFor = nil
            }
            try queue.save(&last)
        }
        return try finish(edit, &row, last)
    }

    /// The last operation and the delete undo each other.
    ///
    /// 1. After an undelete the item is the backend's again.
    /// 2. After an insert it is the row that the backend has there by now, if any.
    /// 3. Otherwise it stays as it was inserted, deleted and new: to bring it back inserts it again,
    ///    also where the backend has an older tombstone with its id.
    private func cancel(_ edit: ItemEdit) throws -> WriteOutcome {
        guard var last = edit.chain.last else { return try add(edit) }
        var row = edit.edited
        try ledger.countCollapsedWrite()
        try queue.close(&last, .collapsed, reason: "Deleted before it was sent.")
        if edit.chain.count == 1 {
            if last.kind == .undelete || row.shadow != nil && !row.serverDeleted {
                row.takeShadow()
            } else {
                row.forgetBackend()
            }
        }
        return try finish(edit, &row, last)
    }

    /// Gives the row its stamp and version, and tells history and dashboard.
    private func finish(
        _ edit: ItemEdit, _ row: inout ItemRow, _ operation: TableOperation
    ) throws -> WriteOutcome {
        row.stamp = try counters.nextStamp(row.tableID)
        row.version = transaction.ids.version()
        row.createdAt = row.createdAt ?? transaction.now.milliseconds
        try items.save(&row)
        try history.record(
            .write, actor: edit.write.actor, operation,
            before: edit.row.rowID == nil ? nil : edit.row.visible,
            after: row.visible, summary: edit.summary(after: row), undoable: true)
        events.emit(.item, table: edit.table.name, item: row.id, operation: operation.id)
        events.emit(.operation, operation)
        return edit.outcome(row)
    }
}
