import Storage
import TablesProtocol

/// The queue: `operations` in their order.
struct OperationQueue: InTransaction {
    let transaction: Transaction

    func operation(seq: Int64) throws -> TableOperation? {
        try transaction.first(TableOperation.bySeq, [seq], TableOperation.init)
    }

    func operation(id: OperationID) throws -> TableOperation? {
        try transaction.first(TableOperation.byID, [id], TableOperation.init)
    }

    /// The operation that is sent after this one has closed.
    func successor(of seq: Int64) throws -> TableOperation? {
        try transaction.first(TableOperation.bySuccessorOf, [seq], TableOperation.init)
    }

    /// The item's open operations in the order in which they are sent.
    func chain(of row: ItemRow?) throws -> [TableOperation] {
        guard let pending = row?.pending, let head = try operation(seq: pending) else { return [] }
        return try [head] + successors(of: head.seq)
    }

    /// The operations that follow this one on its item, in order.
    func successors(of seq: Int64) throws -> [TableOperation] {
        var chain: [TableOperation] = []
        while let next = try successor(of: chain.last?.seq ?? seq) { chain.append(next) }
        return chain
    }

    /// What ``Collapse`` needs to know of a change that follows an operation of its item.
    /// - Parameter end: the place of the change in the queue, if it is there already.
    func collapseRules(
        _ pending: TableOperation?, _ new: OperationKind, before end: Int64 = .max,
        in table: TableRecord
    ) throws -> Collapse.Rules {
        guard let pending else { return Collapse.Rules() }
        return Collapse.Rules(
            sendsUpdateFirst: transaction.items.sendsUpdateFirst(table, before: new),
            crossesInsert: try new.changes && !transaction.has(.updateMovesBeforeInsert)
                && hasArrival(after: pending.seq, before: end))
    }

    /// Whether an insert or an undelete waits to be sent between two places of the queue. One that is being
    /// sent is sent first anyway.
    private func hasArrival(after seq: Int64, before end: Int64) throws -> Bool {
        try transaction.integer(
            """
            SELECT 1 FROM operations INDEXED BY operations_due
            WHERE \(DueOperations.mayBeSent) AND (kind = 'insert' OR kind = 'undelete')
              AND seq > ? AND seq < ? LIMIT 1
            """, [seq, end]) != nil
    }

    /// Adds a new operation at the end of the queue and sets its `seq`.
    func insert(_ operation: inout TableOperation) throws {
        try transaction.run(
            """
            INSERT INTO operations(op_id, table_id, item_id, kind, state, base_version, base_row,
              changed_columns, payload, parameters, generation, conditional, made_id, traceparent,
              actor, title, created_at, successor_of, headers, tracestate)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                operation.id, operation.tableID, operation.itemID.text, operation.kind.rawValue,
                operation.state.rawValue, operation.baseVersion, operation.baseRow?.text,
                JSONList.text(operation.changedColumns), operation.payload?.text,
                JSONList.text(operation.parameters), operation.generation.rawValue,
                operation.conditional, operation.hasGeneratedID, operation.trace?.parent,
                operation.actor.rawValue, operation.title, operation.createdAt.milliseconds,
                operation.successorOf, operation.headers.stored, operation.trace?.state,
            ])
        operation.seq = transaction.db.insertedRowID
        transaction.effects.madeWork = true
    }

    /// Saves every column that may change. Each save is a new revision.
    func save(_ operation: inout TableOperation) throws {
        operation.revision += 1
        try transaction.run(
            """
            UPDATE operations SET item_id = ?, kind = ?, state = ?, reason = ?, revision = ?,
              base_version = ?, base_row = ?, changed_columns = ?, payload = ?, maybe_applied = ?,
              parameters = ?, generation = ?, conditional = ?, highest_id = ?, title = ?,
              attempts = ?, first_attempt_at = ?, last_attempt_at = ?, next_attempt_at = ?,
              closed_at = ?, last_status = ?, last_error = ?, successor_of = ?, made_id = ?,
              may_arrive_late = ?, waits_for = ?, headers = ? WHERE seq = ?
            """,
            [
                operation.itemID.text, operation.kind.rawValue, operation.state.rawValue,
                operation.reason, operation.revision, operation.baseVersion,
                operation.baseRow?.text, JSONList.text(operation.changedColumns),
                operation.payload?.text, operation.maybeApplied,
                JSONList.text(operation.parameters), operation.generation.rawValue,
                operation.conditional, operation.highestID, operation.title, operation.attempts,
                operation.firstAttemptAt?.milliseconds, operation.lastAttemptAt?.milliseconds,
                operation.nextAttemptAt?.milliseconds, operation.closedAt?.milliseconds,
                operation.lastStatus, operation.lastError, operation.successorOf,
                operation.hasGeneratedID,
                operation.mayArriveLate, operation.waitsFor, operation.headers.stored,
                operation.seq,
            ])
        transaction.effects.madeWork = true
    }

    /// Closes an operation. The caller handles its successors.
    func close(
        _ operation: inout TableOperation, _ state: OperationState, reason: String? = nil
    ) throws {
        assert(!state.isOpen, "an operation is closed into a closed state")
        operation.state = state
        operation.reason = reason
        operation.nextAttemptAt = nil
        operation.closedAt = transaction.now
        operation.successorOf = nil
        operation.waitsFor = nil
        if state == .done { try saveDone(&operation) } else { try save(&operation) }
        events.emit(.operation, operation)
    }

    /// Saves that the backend has applied an operation. Only these columns can have changed since it was
    /// sent, so the others are not written again, as ``save(_:)`` would.
    private func saveDone(_ operation: inout TableOperation) throws {
        operation.revision += 1
        try transaction.run(
            """
            UPDATE operations SET state = ?, reason = NULL, revision = ?, next_attempt_at = NULL,
              closed_at = ?, last_status = ?, last_error = ? WHERE seq = ?
            """,
            [
                operation.state.rawValue, operation.revision, operation.closedAt?.milliseconds,
                operation.lastStatus, operation.lastError, operation.seq,
            ])
        transaction.effects.madeWork = true
    }

    /// Makes an operation due again from the start.
    func requeue(_ operation: inout TableOperation, _ reason: String?) throws {
        operation.state = .queued
        operation.reason = reason
        operation.nextAttemptAt = nil
        operation.maybeApplied = false
        try save(&operation)
    }
}
