import Storage
import TablesProtocol

/// The operations and their order: `operations`.
struct OperationQueue {
    let transaction: Transaction
    private var events: EventLog { transaction.events }

    /// One operation by its place in the order.
    func operation(seq: Int64) throws -> TableOperation? {
        try transaction.first(TableOperation.bySeq, [seq], TableOperation.init)
    }

    /// One operation by its id.
    func operation(id: OperationID) throws -> TableOperation? {
        try transaction.first(TableOperation.byID, [id], TableOperation.init)
    }

    /// The operation that waits for this one to close.
    func successor(of seq: Int64) throws -> TableOperation? {
        try transaction.first(TableOperation.bySuccessorOf, [seq], TableOperation.init)
    }

    /// The item's open operations in the order in which they are sent.
    func chain(of row: ItemRow?) throws -> [TableOperation] {
        guard let pending = row?.pending, let head = try operation(seq: pending) else { return [] }
        return try [head] + successors(of: head.seq)
    }

    /// What waits for an operation to close, in order.
    func successors(of seq: Int64) throws -> [TableOperation] {
        var chain: [TableOperation] = []
        while let next = try successor(of: chain.last?.seq ?? seq) { chain.append(next) }
        return chain
    }

    /// Puts a new operation at the end of the queue; `seq` is set.
    func insert(_ operation: inout TableOperation) throws {
        try transaction.run(
            """
            INSERT INTO operations(op_id, table_id, item_id, kind, state, base_version, base_row,
              changed_columns, payload, parameters, generation, conditional, made_id, traceparent,
              actor, title, created_at, successor_of, headers)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                operation.id, operation.tableID, operation.itemID.text, operation.kind.rawValue,
                operation.state.rawValue, operation.baseVersion, operation.baseRow?.text,
                JSONList.text(operation.changedColumns), operation.payload?.text,
                JSONList.text(operation.parameters), operation.generation.rawValue,
                operation.conditional, operation.madeID, operation.traceparent,
                operation.actor.rawValue, operation.title, operation.createdAt.milliseconds,
                operation.successorOf, operation.headers.stored,
            ])
        operation.seq = transaction.db.insertedRowID
        transaction.effects.madeWork = true
    }

    /// Writes what may change of an operation. Every change is a new revision.
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
                operation.lastStatus, operation.lastError, operation.successorOf, operation.madeID,
                operation.mayArriveLate, operation.waitsFor, operation.headers.stored,
                operation.seq,
            ])
        transaction.effects.madeWork = true
    }

    /// Ends an operation. What waited for it is the caller's to promote.
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

    /// Writes that the backend has an operation. What was sent has not changed since, and what was sent
    /// waited for nothing: no other column has to be made text again, as ``save(_:)`` does.
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
