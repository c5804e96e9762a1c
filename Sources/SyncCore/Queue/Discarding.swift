import Storage
import TablesProtocol

struct Discarding: InTransaction {
    let transaction: Transaction

    /// Closes an operation without effect. The item becomes the backend's row, with its later operations applied.
    ///
    /// An update that was merged into a delete becomes an operation again. It does not if later operations follow,
    /// or if a person has decided a conflict: then the item's values were chosen later.
    /// - Parameter isAnswered: whether `server` has just come from the backend. If not, a page of a pull that
    ///   is on its way still applies.
    func giveUp(
        _ operation: inout TableOperation, _ row: inout ItemRow, for server: ServerSide,
        by actor: Actor, reason: String, kind: HistoryKind = .discarded,
        copy: ItemID? = nil, isAnswered: Bool = false
    ) throws {
        let before = row.visible
        let successors = try queue.successors(of: operation.seq)
        var point = UndoPoint(operation, row, server, isFollowed: !successors.isEmpty)
        point.copy = copy
        try queue.close(&operation, .discarded, reason: reason)
        // A row that was never sent stays new: the next write inserts it.
        if row.isOnBackend || operation.maybeApplied || server.columns != nil {
            let isNewer = try isAnswered || counters.changeCount() == 0
            row.settledAt = isNewer ? try counters.nextChange() : max(row.settledAt, 1)
        }
        let isChosen = !successors.isEmpty || kind == .resolved
        let unfolded = isChosen ? nil : try folding.unfold(operation)
        try rebase.move(&row, successors + [unfolded].compactMap(\.self), onto: server)
        if let unfolded, row.pending == unfolded.seq, row.deleted {
            // The update is a conflict. Clients see the item as the update leaves it.
            let deleted = row
            (row.columns, row.deleted) = (unfolded.result, false)
            try items.restamp(&row, from: deleted)
        }
        try history.record(
            kind, actor: actor, operation, before: before, after: row.visible, summary: reason,
            point: point)
    }

    /// Discards an operation. The item becomes the last known row of the backend, or what the operation
    /// before this one leaves.
    func discard(
        _ id: OperationID, revision: Int?, reason: String = "Discarded."
    ) throws -> ActionOutcome {
        let found = try actions.find(id, revision: revision)
        guard case .operation(var operation, _, var row) = found else { return found.refusal }
        if operation.state == .sending { return .refused(reason: "It is being sent.") }
        guard try queue.successor(of: operation.seq) == nil else {
            return .refused(
                reason: "A later change of the same item follows it: discard that one first.")
        }
        if operation.successorOf == nil {
            try giveUp(
                &operation, &row, for: ServerSide(shadowOf: row), by: .person,
                reason: reason)
        } else {
            try discardSuccessor(&operation, &row, reason: reason)
        }
        return try actions.emitDone(operation)
    }

    /// Discards an operation that follows others. The item becomes what those leave. An update that was merged into
    /// a discarded delete becomes an operation again.
    private func discardSuccessor(
        _ operation: inout TableOperation, _ row: inout ItemRow, reason: String
    ) throws {
        let before = row
        let point = UndoPoint(
            operation, row, ServerSide(shadowOf: row), isFollowed: false)
        let earlier = try queue.chain(of: row).prefix { $0.seq != operation.seq }
        try queue.close(&operation, .discarded, reason: reason)
        let unfolded = try folding.unfold(operation, after: earlier.last?.seq)
        let left = earlier + [unfolded].compactMap(\.self)
        row.columns = left.result ?? row.columns
        row.deleted = left.last?.kind == .delete
        try items.restamp(&row, from: before)
        try history.record(
            .discarded, actor: .person, operation, before: before.visible, after: row.visible,
            summary: reason, point: point)
    }

    /// Discards an operation that the backend refused while its client still waits for the answer. That
    /// client was never told that the write succeeded.
    ///
    /// 1. An operation that may have taken effect stays, and so does one that another operation follows.
    /// 2. An operation that contains another write of the item stays: that write was acknowledged.
    /// 3. Otherwise the item becomes the backend's row.
    ///
    /// - Parameters: see ``Store/withdraw(_:isWaiting:earlierVersion:)``.
    /// - Returns: whether the operation is discarded, by this call or before it; otherwise a person decides.
    func withdraw(
        _ id: OperationID, isWaiting: Bool, _ earlierVersion: String?
    ) throws -> Bool {
        let found = try actions.find(id, revision: nil)
        if case .outcome(.changed(current: let closed)) = found {
            return closed.state == .discarded
        }
        guard case .operation(var operation, _, var row) = found,
            isWaiting
                ? operation.state == .waiting || operation.state == .queued
                : operation.state == .quarantined || operation.state == .conflict,
            !operation.maybeApplied, isWaiting || !operation.mayArriveLate,
            operation.successorOf == nil,
            try queue.successor(of: operation.seq) == nil, try hasOneWrite(operation)
        else { return false }
        let isUnchanged =
            row.serverVersion == operation.baseVersion
            && row.shadow?.text == operation.baseRow?.text
        try giveUp(
            &operation, &row, for: ServerSide(shadowOf: row), by: .engine,
            reason: "The backend refused it, and the client that waited was told so.")
        if let earlierVersion, isUnchanged {
            row.version = earlierVersion
            try items.save(&row)
        }
        events.emit(.operation, operation)
        events.emit(.item, operation)
        return true
    }

    /// Whether the write that made the operation is the only one to its item since. False if retention has
    /// removed that write from history: another one may be all that is left.
    private func hasOneWrite(_ operation: TableOperation) throws -> Bool {
        try transaction.integer(
            """
            SELECT count(*) = 1 AND min(at) = ?1 FROM history
            WHERE at >= ?1 AND kind = 'write' AND table_id = ?2 AND item_id = ?3
            """, [operation.createdAt.milliseconds, operation.tableID, operation.itemID.text]) == 1
    }
}
