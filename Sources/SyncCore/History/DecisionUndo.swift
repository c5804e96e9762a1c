import TablesProtocol

/// Undoes a decision about a conflict, or a discard.
struct DecisionUndo {
    let transaction: Transaction
    private var attempts: AttemptLog { transaction.attempts }
    private var items: ItemTable { transaction.items }
    private var queue: OperationQueue { transaction.queue }
    private var entryUndo: EntryUndo { EntryUndo(transaction: transaction) }
    private var writeUndo: WriteUndo { WriteUndo(transaction: transaction) }
    private var writing: LocalWriting { LocalWriting(transaction: transaction) }

    /// Undoes a decision about a conflict, or a discard.
    ///
    /// 1. An operation that the decision changed and that has not been sent becomes the conflict again.
    /// 2. One that the decision gave up comes back as a new operation in the state that it had, with
    ///    its reason and attempts; keeping both takes the copy away again.
    /// 3. After the decision was sent there is a new change, which takes back only the columns that the
    ///    decision changed at the backend.
    func undo(
        _ entry: HistoryRow, _ point: UndoPoint, _ table: TableRecord
    ) throws -> ActionOutcome {
        let operation = try queue.operation(id: point.operation.id)
        if let operation, operation.state.isOpen, !operation.mayHaveReached {
            return try reopen(operation, entry, point, table)
        }
        let wasGivenUp = entry.kind == .discarded || operation?.state == .discarded
        if wasGivenUp || operation == nil && !point.isSentDecision(entry) {
            return try bringBack(entry, point, table)
        }
        return try undoSent(entry, point, table)
    }

    /// Makes an operation what it was before the decision. What was written to the item since stays
    /// on top.
    private func reopen(
        _ operation: TableOperation, _ entry: HistoryRow, _ point: UndoPoint,
        _ table: TableRecord
    ) throws -> ActionOutcome {
        guard var row = try items.row(table, exactly: operation.itemID),
            row.pending == operation.seq,
            try queue.successor(of: operation.seq) == nil
        else {
            return .refused(
                reason: "A later change of the item follows it: discard that one first.")
        }
        guard row.deleted == (entry.after == nil) else {
            return .refused(reason: "The item was deleted or restored since: undo that first.")
        }
        let before = row
        var mine = point.mine
        let since = row.visible?.changedNames(from: entry.after ?? Columns()) ?? []
        for name in since { mine[name] = row.columns[name] ?? .null }
        row.columns = mine
        row.deleted = point.mineDeleted
        var reopened = point.operation
        reopened.seq = operation.seq
        reopened.itemID = operation.itemID
        reopened.revision = operation.revision
        reopened.attempts = operation.attempts
        reopened.successorOf = nil
        reopened.waitsFor = nil
        reopened.mayArriveLate = reopened.mayArriveLate || operation.mayArriveLate
        if !since.isEmpty, reopened.kind != .delete { reopened.take(mine) }
        try queue.save(&reopened)
        try items.restamp(&row, from: before)
        return try entryUndo.finish(entry, of: row.id, before: before.visible, table)
    }

    /// Brings an operation back that was given up.
    private func bringBack(
        _ entry: HistoryRow, _ point: UndoPoint, _ table: TableRecord
    ) throws -> ActionOutcome {
        var row =
            try items.row(table, point.operation.itemID) ?? forgotten(point, table)
        let chain = try queue.chain(of: row)
        let follows = !chain.isEmpty && point.operation.successorOf != nil
        guard chain.isEmpty || follows && row.visible == point.operation.baseRow else {
            return .refused(
                reason: "The item has a newer change: discard or undo that one first.")
        }
        let before = row
        var operation = point.operation
        operation.id = transaction.ids.operationID(at: transaction.now)
        operation.itemID = row.id
        operation.successorOf = chain.last?.seq
        operation.waitsFor = nil
        operation.nextAttemptAt = operation.nextAttemptAt.map { _ in transaction.now }
        operation.attempts =
            try queue.operation(id: point.operation.id)?.attempts ?? operation.attempts
        if chain.isEmpty { judge(&operation, over: row) }
        try queue.insert(&operation)
        try queue.save(&operation)
        try attempts.copy(from: point.operation.seq, to: operation.seq)
        if chain.isEmpty {
            row.shadow = row.rowID == nil ? point.server.columns : row.known
            row.pending = operation.seq
        }
        row.columns = point.mine
        row.deleted = point.mineDeleted
        try items.restamp(&row, from: before)
        try takeAway(point, table)
        return try entryUndo.finish(entry, of: row.id, before: before.visible, table)
    }

    /// What waited to be sent is a conflict when another writer changed the same columns since.
    private func judge(_ operation: inout TableOperation, over row: ItemRow) {
        guard row.rowID != nil, row.isOnBackend, operation.state != .conflict,
            operation.state != .quarantined, !operation.mayHaveReached
        else { return }
        var server = ServerSide(shadowOf: row)
        server.columns = row.known
        guard case .overlap = ChainSides(server, after: nil).judge(operation) else { return }
        operation.state = .conflict
        operation.reason = ConflictReason.sentence(operation.kind, isGone: !server.isLive)
        operation.nextAttemptAt = nil
    }

    /// A row that a purge has forgotten since.
    private func forgotten(_ point: UndoPoint, _ table: TableRecord) -> ItemRow {
        var row = ItemRow(new: point.operation.itemID, tableID: table.id)
        row.columns = point.server.columns ?? Columns()
        row.deleted = !point.server.isLive
        row.serverVersion = point.server.version
        row.serverUpdatedAt = point.server.updatedAt
        row.serverDeleted = point.server.isDeleted
        row.createdAt = transaction.now.milliseconds
        return row
    }

    /// Deletes the item that keeping both has made, unless it was changed since.
    private func takeAway(_ point: UndoPoint, _ table: TableRecord) throws {
        guard let id = point.copy, let copy = try items.row(table, id), copy.visible == point.mine
        else {
            return
        }
        let write = LocalWrite(
            table: table.name, action: .delete(copy.id), generation: point.operation.generation,
            actor: .person)
        _ = try writing.perform(write, WriteRules())
    }

    /// Takes back at the backend what the decision changed there.
    private func undoSent(
        _ entry: HistoryRow, _ point: UndoPoint, _ table: TableRecord
    ) throws -> ActionOutcome {
        let change = WrittenChange(
            operationID: point.operation.id,
            before: point.server.isLive ? point.server.columns : nil, after: entry.after)
        return try writeUndo.takeBack(change, entry, of: point.operation.itemID, table)
    }
}

extension UndoPoint {
    /// Whether the entry's decision was to send something.
    fileprivate func isSentDecision(_ entry: HistoryRow) -> Bool {
        entry.kind == .resolved && entry.after != (server.isLive ? server.columns : nil)
    }
}
