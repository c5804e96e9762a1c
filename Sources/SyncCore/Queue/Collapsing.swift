import TablesProtocol

/// One write with the row and the open operations of its item.
struct ItemEdit {
    let table: TableRecord
    var row: ItemRow
    /// The item's open operations in order.
    var chain: [TableOperation]
    let kind: OperationKind
    /// The columns of the write, in the table's spelling.
    var columns: Columns
    let write: LocalWrite
    var hasGeneratedID = false

    /// Whether an undelete has to be sent as an insert: the backend never had the row.
    var mustInsertToUndelete: Bool { kind == .undelete && chain.isEmpty && !row.isOnBackend }

    /// The change that an undelete sends after it, because it was merged into the delete.
    var unsentBeforeUndelete: UnsentChange? {
        guard kind == .undelete, !mustInsertToUndelete else { return nil }
        return chain.last.map { UnsentChange(mergedInto: $0) } ?? row.unsent
    }

    /// The row with the write applied; its stamp and version are still the old ones.
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

    /// The outcome that the client gets.
    /// - Parameter operation: the operation that contains the change.
    func outcome(_ row: ItemRow, in operation: WrittenOperation?) -> WriteOutcome {
        switch kind {
        case .insert: .inserted(row.item, operation)
        case .update, .replace: .updated(row.item, operation)
        case .delete: .deleted(row.item, operation)
        case .undelete: .undeleted(row.item, operation)
        }
    }

    /// The outcome of a write that changes nothing, with the last open operation that has its change.
    var outcomeWithoutEffect: WriteOutcome {
        let same = chain.last { open in
            if columns.isEmpty { return open.kind == kind }
            return open.kind == .insert
                || columns.names.contains { open.changedColumns.contains($0) }
        }
        return outcome(row, in: same.map { WrittenOperation(id: $0.id, isOwn: false) })
    }

    func summary(after: ItemRow) -> String {
        switch kind {
        case .insert: return "Inserted."
        case .delete: return "Deleted."
        case .undelete: return "Brought back."
        case .update, .replace:
            if row.deleted { return "Brought back and changed." }
            let names = after.columns.writtenNames(from: row.columns)
            return names.isEmpty ? "Changed nothing." : "Changed \(names.joined(separator: ", "))."
        }
    }
}

/// Applies an edit to the item's row and operations, as ``Collapse`` decides.
struct Collapsing: InTransaction {
    let transaction: Transaction

    /// Decides what the edit does to the item's open operations, and does it.
    func apply(_ edit: ItemEdit, _ rules: WriteRules) throws -> WriteOutcome {
        let edit =
            try edit.kind == .delete || edit.chain.first?.isRefusedUnseen == true
            ? withoutUnsentUpdates(edit) : edit
        var collapse = try queue.collapseRules(edit.chain.last, edit.kind, in: edit.table)
        collapse.strictSDK = rules.strictSDK
        if rules.keepsPlace { collapse.crossesInsert = false }
        let decision = Collapse.decide(
            pending: edit.chain.last.map { Collapse.Pending($0) }, new: edit.kind, collapse)
        switch decision {
        case .successor where edit.chain.count >= StoreLimits.operationsOfItem:
            return try moveLast(edit)
        case .append, .successor:
            return try add(edit)
        case .change(let kind):
            return try change(edit, to: kind)
        case .cancel:
            return try cancel(edit)
        case .nothing:
            try ledger.countCollapsedWrite()
            return edit.outcomeWithoutEffect
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

    /// Merges the updates of an item that were kept apart and not sent, because the item's delete follows. If the
    /// item's insert was not sent either, all are cancelled. A backend that deletes for good gets one request.
    /// Operations behind one that was refused without a verdict are merged into that one.
    private func withoutUnsentUpdates(_ edit: ItemEdit) throws -> ItemEdit {
        guard edit.chain.count > 1, var first = edit.chain.first, !first.takesNoChange,
            first.isRefusedUnseen || first.kind == .insert
                || !items.sendsUpdateFirst(edit.table, before: .delete)
        else { return edit }
        var edit = edit
        try Folding(transaction: transaction).fold(&first, &edit.row, acrossInserts: true)
        edit.chain = try queue.chain(of: edit.row)
        return edit
    }

    /// Merges an update into the item's last operation, and moves that one to the end of the queue: it has
    /// to follow an insert, and the item has as many operations as are kept apart.
    private func moveLast(_ edit: ItemEdit) throws -> WriteOutcome {
        guard var last = edit.chain.last, !last.mayHaveReached, last.kind.changes,
            edit.kind.changes
        else { return try add(edit) }
        var row = edit.edited
        var moved = newOperation(edit)
        moved.kind = last.kind == .replace ? .replace : edit.kind
        moved.baseRow = last.baseRow
        moved.successorOf = last.successorOf
        moved.conditional = last.conditional || moved.conditional
        if moved.parameters.isEmpty { moved.parameters = last.parameters }
        let newer = moved.headers
        moved.headers = last.headers
        moved.headers.override(with: newer)
        moved.setChange(to: row.columns)
        try queue.close(&last, .collapsed, reason: "Merged into a later change of the item.")
        if moved.changesNothing {
            try ledger.countCollapsedWrite()
            return try finish(edit, &row, last)
        }
        try queue.insert(&moved)
        return try finish(edit, &row, moved)
    }

    /// Adds an operation: the item's first, or the last of its chain. An undelete may need a second one,
    /// which sends what was merged into the delete.
    private func add(_ edit: ItemEdit) throws -> WriteOutcome {
        var row = edit.edited
        var operation = newOperation(edit)
        let unsent = edit.unsentBeforeUndelete
        if let unsent, !edit.chain.isEmpty { operation.baseRow?.merge(unsent.base) }
        operation.setChange(to: row.columns)
        if operation.changesNothing {
            try ledger.countCollapsedWrite()
            return edit.outcomeWithoutEffect
        }
        try queue.insert(&operation)
        if edit.chain.isEmpty {
            row.shadow = operation.kind == .insert ? nil : edit.row.known
            row.pending = operation.seq
        }
        if let unsent { try add(unsent, after: operation, edit, &row) }
        return try finish(edit, &row, operation)
    }

    /// Adds the update that sends what was merged into a delete, after the undelete. It starts from the row
    /// that the client saw, so another writer's change of the same columns is a conflict.
    private func add(
        _ unsent: UnsentChange, after undelete: TableOperation, _ edit: ItemEdit,
        _ row: inout ItemRow
    ) throws {
        var update = undelete
        update.id = transaction.ids.operationID(at: transaction.now)
        update.kind = .update
        update.baseVersion = nil
        update.baseRow?.merge(unsent.base)
        update.successorOf = undelete.seq
        row.columns.merge(unsent.columns)
        update.setChange(to: row.columns)
        guard !update.changesNothing else { return }
        try queue.insert(&update)
        events.emit(.operation, update)
    }

    private func newOperation(_ edit: ItemEdit) -> TableOperation {
        var operation = TableOperation(
            id: transaction.ids.operationID(at: transaction.now), tableID: edit.table.id,
            table: edit.table.name,
            itemID: edit.row.id,
            kind: edit.mustInsertToUndelete ? .insert : edit.kind,
            generation: edit.write.generation,
            actor: edit.write.actor, createdAt: transaction.now)
        operation.parameters = edit.write.parameters
        operation.headers = edit.write.headers
        operation.conditional = edit.write.isConditional
        operation.trace = edit.write.trace
        operation.hasGeneratedID = edit.hasGeneratedID
        operation.title = ItemTitle.of(edit.row.columns)
        operation.successorOf = edit.chain.last?.seq
        if operation.kind != .insert {
            operation.baseRow = edit.row.columns
            operation.baseVersion = edit.chain.isEmpty ? edit.row.serverVersion : nil
        }
        return operation
    }

    /// Changes the item's last operation in place. Closes it if nothing is left to change.
    private func change(_ edit: ItemEdit, to kind: OperationKind) throws -> WriteOutcome {
        guard var last = edit.chain.last else { return try add(edit) }
        var row = edit.edited
        try ledger.countCollapsedWrite()
        last.kind = kind
        last.setChange(to: row.columns)
        if !edit.write.parameters.isEmpty { last.parameters = edit.write.parameters }
        last.headers.override(with: edit.write.headers)
        last.generation = edit.write.generation
        last.conditional = last.conditional || edit.write.isConditional
        if last.changesNothing {
            try queue.close(&last, .collapsed, reason: "Changed back before it was sent.")
            if edit.chain.count == 1 { row.takeShadow() }
            row.columns = edit.chain.dropLast().result ?? row.columns
        } else {
            if last.state == .quarantined || last.waitsFor != nil {
                last.state = .queued
                last.reason = nil
                last.nextAttemptAt = nil
                last.waitsFor = nil
                last.maybeApplied = false
            }
            try queue.save(&last)
        }
        return try finish(edit, &row, last)
    }

    /// Closes the item's last operation, which the delete undoes.
    ///
    /// 1. After an undelete the item is the backend's row again.
    /// 2. After an insert it is the row that the backend has there by now, if any.
    /// 3. After another operation the item is what that operation leaves. If that operation is a delete, it keeps the
    ///    insert's columns as an update that was merged into it, so that an undelete sends them.
    /// 4. Otherwise the item stays as it was inserted, but deleted, and is new to the backend. Undeleting
    ///    it inserts it again, even if the backend has an older tombstone with its id.
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
        let rest = edit.chain.dropLast()
        if last.kind == .insert, var delete = rest.last, delete.baseRow != nil {
            delete.setChange(to: row.columns)
            try queue.save(&delete)
        } else {
            row.columns = rest.result ?? row.columns
        }
        return try finish(edit, &row, last)
    }

    /// Gives the row its stamp and version, and records the write in history and events.
    private func finish(
        _ edit: ItemEdit, _ row: inout ItemRow, _ operation: TableOperation
    ) throws -> WriteOutcome {
        row.stamp = try counters.nextStamp(row.tableID)
        row.version = transaction.ids.version()
        row.ownWrite = edit.ownWrite(version: row.version, stamp: row.stamp)
        row.createdAt = row.createdAt ?? transaction.now.milliseconds
        try items.save(&row)
        try history.record(
            .write, actor: edit.write.actor, operation,
            before: edit.row.rowID == nil ? nil : edit.row.visible,
            after: row.visible, summary: edit.summary(after: row), undoable: true)
        events.emit(.item, table: edit.table.name, item: row.id, operation: operation.id)
        events.emit(.operation, operation)
        return edit.outcome(
            row,
            in: WrittenOperation(
                id: operation.id, isOwn: true,
                earlierVersion: edit.row.rowID == nil ? nil : edit.row.version))
    }
}

/// Merges successors into the operation before them, and takes updates out of deletes again.
struct Folding: InTransaction {
    let transaction: Transaction

    /// Merges an operation's successors into it, once the backend is known not to have applied it.
    ///
    /// 1. The successors are merged one after the other, as ``Collapse`` decides for a new write. The
    ///    successors of a merged operation become those of the operation.
    /// 2. Two operations that undo each other both close, if nothing else follows.
    /// 3. A successor that overlaps with another writer's change is not merged. The operation already
    ///    starts from that change, so a merge would hide the overlap. The successor is judged when it is
    ///    sent.
    /// 4. An operation that no longer changes anything closes, and its successors are sent instead.
    ///
    /// - Parameter acrossInserts: whether updates also move back across a later insert of another item.
    func fold(
        _ operation: inout TableOperation, _ row: inout ItemRow, acrossInserts: Bool = false
    ) throws {
        guard !operation.takesNoChange, let table = try tables.table(id: operation.tableID)
        else { return }
        folding: while var next = try queue.successor(of: operation.seq) {
            if next.overlapsChange(before: operation) { break }
            var rules = try queue.collapseRules(
                operation, next.kind, before: next.seq, in: table)
            if acrossInserts { rules.crossesInsert = false }
            let decision = Collapse.decide(
                pending: Collapse.Pending(operation), new: next.kind, rules)
            switch decision {
            case .append, .successor, .refuse:
                break folding
            case .nothing:
                try merge(&next, into: operation, reason: "Already so.")
            case .cancel:
                guard try queue.successor(of: next.seq) == nil else { break folding }
                try queue.close(&next, .collapsed, reason: "Deleted before the backend had it.")
                try queue.close(
                    &operation, .collapsed, reason: "Deleted before the backend had it.")
                if operation.kind == .undelete {
                    row.takeShadow()
                    row.unsent = UnsentChange(mergedInto: next)
                } else if row.shadow == nil || row.serverDeleted {
                    row.forgetBackend()
                }
                row.pending = nil
                row.shadow = nil
                return try items.save(&row)
            case .change(let kind):
                let left = [operation, next].result ?? row.columns
                try merge(&next, into: operation, reason: "Merged into the one before.")
                operation.kind = kind
                operation.setChange(to: left)
                operation.conditional = operation.conditional || next.conditional
                operation.headers.override(with: next.headers)
                if operation.state == .quarantined { try queue.requeue(&operation, nil) }
                try queue.save(&operation)
            }
        }
        guard operation.changesNothing, operation.state != .sending else { return }
        let rest = try queue.successors(of: operation.seq)
        try queue.close(&operation, .collapsed, reason: "Changed back before it was sent.")
        try rebase.move(&row, rest, onto: ServerSide(shadowOf: row))
    }

    /// Takes the update out of a delete that is given up. The update's client was told that it succeeded, so it
    /// becomes an operation again. The caller judges it against the backend's row.
    /// - Returns: the update; nil if none was merged into the delete.
    func unfold(
        _ delete: TableOperation, after predecessor: Int64? = nil
    ) throws -> TableOperation? {
        guard delete.kind == .delete, delete.baseRow != nil, !delete.changes.isEmpty else {
            return nil
        }
        var update = TableOperation(
            id: transaction.ids.operationID(at: transaction.now), tableID: delete.tableID,
            table: delete.table, itemID: delete.itemID, kind: .update,
            generation: delete.generation, actor: delete.actor, createdAt: transaction.now)
        (update.baseRow, update.baseVersion) = (delete.baseRow, delete.baseVersion)
        (update.parameters, update.headers) = (delete.parameters, delete.headers)
        (update.conditional, update.successorOf) = (delete.conditional, predecessor)
        update.setChange(to: delete.result)
        try queue.insert(&update)
        events.emit(.operation, update)
        return update
    }

    /// Closes an operation that was merged into the one before it, and attaches its successor to that one.
    private func merge(
        _ next: inout TableOperation, into operation: TableOperation, reason: String
    ) throws {
        let following = try queue.successor(of: next.seq)
        try queue.close(&next, .collapsed, reason: reason)
        guard var following else { return }
        following.successorOf = operation.seq
        try queue.save(&following)
    }
}

extension TableOperation {
    /// Whether it was refused although it may have taken effect: its row could not be read.
    fileprivate var isRefusedUnseen: Bool { state == .quarantined && maybeApplied }

    /// Whether the client saw a row that differs from what the operation before leaves. Only columns that
    /// this operation changes count; for a delete, all columns.
    fileprivate func overlapsChange(before operation: TableOperation) -> Bool {
        guard let baseRow else { return false }
        let left = Rebase.desiredColumns(operation, over: ServerSide(columns: operation.baseRow))
        let names = baseRow.changedNames(from: left)
        return kind == .delete ? !names.isEmpty : names.contains { changedColumns.contains($0) }
    }
}
