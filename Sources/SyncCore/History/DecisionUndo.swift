import Storage
import TablesProtocol

/// Undoes the decision about a conflict, or a discard.
struct DecisionUndo: InTransaction {
    let transaction: Transaction

    /// Undoes the decision about a conflict, or a discard.
    ///
    /// 1. If the decision changed the operation, and it was not sent yet, it becomes the conflict again. A
    ///    second operation that the decision made closes.
    /// 2. If the decision discarded the operation, its change comes back as a new operation with its
    ///    attempts, over the item as it is now. After "keep both" the copy is deleted.
    /// 3. If the decision was sent, a new change reverts only the columns that the decision changed on the
    ///    backend, or deletes the row that the decision brought back.
    func undo(
        _ entry: HistoryRow, _ point: UndoPoint, _ table: TableRecord
    ) throws -> ActionOutcome {
        switch try way(entry, point) {
        case .reopen(let operation): try reopen(operation, entry, point, table)
        case .restore: try restore(entry, point, table)
        case .sent: try undoSent(entry, point, table)
        }
    }

    /// The three ways to undo a decision.
    enum Way {
        /// The decision changed this operation, which was not sent yet.
        case reopen(TableOperation)
        /// The decision gave its operation up.
        case restore
        /// The decision was sent, or may have been.
        case sent
    }

    /// The way in which a decision is undone as things stand.
    func way(_ entry: HistoryRow, _ point: UndoPoint) throws -> Way {
        let operation = try queue.operation(id: point.operation.id)
        if let operation, operation.state.isOpen, !operation.mayHaveReached {
            return .reopen(operation)
        }
        let wasGivenUp = entry.kind == .discarded || operation?.state == .discarded
        return wasGivenUp || operation == nil && !point.isSentDecision(entry) ? .restore : .sent
    }

    /// Restores an operation as it was before the decision. Later writes to the item stay applied.
    private func reopen(
        _ operation: TableOperation, _ entry: HistoryRow, _ point: UndoPoint,
        _ table: TableRecord
    ) throws -> ActionOutcome {
        let second = try queue.successor(of: operation.seq)
        guard var row = try items.row(table, exactly: operation.itemID),
            row.pending == operation.seq, try isOwn(second, of: entry, point)
        else {
            return .refused(
                reason: "A later change of the item follows it: discard that one first.")
        }
        guard row.deleted == (entry.after == nil) else {
            return .refused(reason: "The item was deleted or restored since: undo that first.")
        }
        if var second {
            try queue.close(
                &second, .collapsed, reason: "The decision that made it was undone.")
        }
        let before = row
        var mine = point.mine
        let since = row.visible?.writtenNames(from: entry.after ?? Columns()) ?? []
        mine.merge(row.columns.picking(since))
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
        if !since.isEmpty, reopened.kind != .delete { reopened.setChange(to: mine) }
        try queue.save(&reopened)
        try items.restamp(&row, from: before)
        return try entryUndo.finish(entry, of: row.id, before: before.visible, table)
    }

    /// Whether nothing but the decision's own second operation follows its first one.
    private func isOwn(
        _ second: TableOperation?, of entry: HistoryRow, _ point: UndoPoint
    ) throws -> Bool {
        guard let second else { return true }
        guard point.hasSecond(entry), second.createdAt.milliseconds == entry.at,
            !second.mayHaveReached
        else { return false }
        return try queue.successor(of: second.seq) == nil
    }

    /// Restores an operation that was discarded, as a new change of the item as it is now.
    ///
    /// 1. The update that was taken out of a discarded delete is merged into it again, unless it was sent.
    /// 2. Behind open operations it is their successor. It is refused unless the item is as the discard left
    ///    it, or as its client saw it.
    /// 3. One that may have been applied, and a conflict, stay as they were, over the item's present row.
    /// 4. Any other is judged against the backend's row as it is known (``ChainJudge``). If another writer
    ///    has changed the same columns since, it becomes a conflict. Otherwise it is rebased onto that row.
    private func restore(
        _ entry: HistoryRow, _ point: UndoPoint, _ table: TableRecord
    ) throws -> ActionOutcome {
        var row =
            try items.row(table, point.operation.itemID) ?? purgedRow(point, table)
        let before = row
        var chain = try queue.chain(of: row)
        let isAsLeft = isSame(row.visible, entry.after)
        var unfolded = chain.last
        if point.operation.kind == .delete, isAsLeft, unfolded?.kind == .update,
            unfolded?.createdAt.milliseconds == entry.at, unfolded?.mayHaveReached == false
        {
            chain.removeLast()
        } else {
            unfolded = nil
        }
        let follows = !chain.isEmpty && point.operation.successorOf != nil
        let isUnchanged = isAsLeft || isSame(row.visible, point.operation.baseRow)
        guard chain.isEmpty || follows && isUnchanged else {
            return .refused(
                reason: "The item has a newer change: discard or undo that one first.")
        }
        if var unfolded {
            try queue.close(
                &unfolded, .collapsed, reason: "The decision that made it was undone.")
            if chain.isEmpty { row.takeShadow() }
        }
        var operation = try renewed(point.operation)
        operation.itemID = row.id
        operation.successorOf = chain.last?.seq
        try queue.insert(&operation)
        try attempts.copy(from: point.operation.seq, to: operation.seq)
        let server = row.rowID == nil ? point.server : ServerSide(knownOf: row)
        let isJudged = chain.isEmpty && !operation.maybeApplied && operation.state != .conflict
        var isNewConflict = false
        let owner = try binding.owner()
        if isJudged, case .overlap = ChainJudge(server, owner: owner, after: nil).judge(operation) {
            operation.becomeConflict(
                ConflictReason.sentence(operation.kind, isGone: !server.isLive))
            operation.baseVersion = nil
            isNewConflict = true
        }
        if isJudged, !isNewConflict {
            try rebase.move(&row, [operation], onto: server, isDecided: true)
        } else {
            try queue.save(&operation)
            if chain.isEmpty {
                row.shadow = server.columns
                row.pending = operation.seq
            }
            row.columns = point.localColumns(over: row, since: entry.after)
            row.deleted = point.mineDeleted
            try items.restamp(&row, from: before)
            if isNewConflict { try rebase.recordConflict(operation, of: row, with: server) }
        }
        try deleteCopy(point, table)
        return try entryUndo.finish(entry, of: row.id, before: before.visible, table)
    }

    /// Whether two rows have the same values, in any order. Nil is no row.
    private func isSame(_ one: Columns?, _ other: Columns?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.changedNames(from: other).isEmpty
    }

    /// A new operation with the content and attempts of a discarded one. It is due now, unless it waits for
    /// a person. One that may have been applied is read back first.
    private func renewed(_ discarded: TableOperation) throws -> TableOperation {
        var operation = discarded
        operation.id = transaction.ids.operationID(at: transaction.now)
        operation.attempts = try queue.operation(id: discarded.id)?.attempts ?? discarded.attempts
        operation.waitsFor = nil
        switch discarded.state {
        case .conflict, .quarantined: break
        case .queued, .sending, .waiting, .unknown, .done, .discarded, .collapsed:
            operation.state = discarded.maybeApplied ? .unknown : .queued
            operation.reason = discarded.maybeApplied ? discarded.reason : nil
            operation.nextAttemptAt = discarded.maybeApplied ? transaction.now : nil
        }
        return operation
    }

    private func purgedRow(_ point: UndoPoint, _ table: TableRecord) -> ItemRow {
        var row = ItemRow(new: point.operation.itemID, tableID: table.id)
        row.columns = point.server.columns ?? Columns()
        row.deleted = !point.server.isLive
        row.takeServerProperties(point.server)
        row.createdAt = transaction.now.milliseconds
        return row
    }

    /// Deletes the item that "keep both" has made, unless it was changed since.
    private func deleteCopy(_ point: UndoPoint, _ table: TableRecord) throws {
        guard let id = point.copy, let copy = try items.row(table, id), copy.visible == point.mine
        else {
            return
        }
        let write = LocalWrite(
            table: table.name, action: .delete(copy.id), generation: point.operation.generation,
            actor: .person)
        _ = try writing.perform(write, WriteRules())
    }

    /// Reverts what the decision changed on the backend.
    private func undoSent(
        _ entry: HistoryRow, _ point: UndoPoint, _ table: TableRecord
    ) throws -> ActionOutcome {
        let isGone = try items.row(table, point.operation.itemID)?.visible == nil
        let first = try queue.operation(id: point.operation.id)
        if !point.server.isLive, !isGone, first?.state == .collapsed {
            return .refused(
                reason: "The backend had the item again before this was sent. Delete it instead.")
        }
        let change = WrittenChange(
            operationID: try sentSecond(after: first, entry, point) ?? point.operation.id,
            before: point.server.isLive ? point.server.columns : nil, after: entry.after)
        return try writeUndo.revert(change, entry, of: point.operation.itemID, table)
    }

    /// The second operation that the decision made, if the backend has applied it.
    private func sentSecond(
        after first: TableOperation?, _ entry: HistoryRow, _ point: UndoPoint
    ) throws -> OperationID? {
        guard first?.kind == .undelete, point.hasSecond(entry) else { return nil }
        return try transaction.first(
            """
            SELECT op_id FROM operations WHERE state = 'done' AND seq > ? AND created_at = ?
              AND table_id = ? AND item_id = ? ORDER BY seq LIMIT 1
            """,
            [
                point.operation.seq, entry.at, point.operation.tableID,
                point.operation.itemID.text,
            ]
        ) { row -> OperationID? in row[0] }
    }
}

extension UndoPoint {
    /// The item's local columns before the decision, with those that were changed after it. The operation's
    /// own columns stay.
    /// - Parameter after: the row that the decision left; nil if it left none.
    fileprivate func localColumns(over row: ItemRow, since after: Columns?) -> Columns {
        guard operation.kind != .delete, let now = row.visible else { return mine }
        let own = Set(operation.changedColumns.map { ExactName($0) })
        let later = now.changedNames(from: after ?? Columns()).filter {
            !own.contains(ExactName($0))
        }
        var columns = mine
        columns.merge(now.picking(later))
        return columns
    }

    /// Whether the decision of the entry made a second operation (``Rebase``): to bring a row back and to
    /// change it are two requests.
    fileprivate func hasSecond(_ entry: HistoryRow) -> Bool {
        guard entry.kind == .resolved, server.isDeleted, let deleted = server.columns,
            let after = entry.after
        else { return false }
        return !after.writtenNames(from: deleted).isEmpty
    }

    /// Whether the decision of the entry was to send something.
    fileprivate func isSentDecision(_ entry: HistoryRow) -> Bool {
        entry.kind == .resolved && entry.after != (server.isLive ? server.columns : nil)
    }
}
