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

    /// The item as an operation leaves it; nil if the operation deletes it. (The item's row has the changes of later
    /// operations too.)
    func mine(of operation: TableOperation, _ row: ItemRow) throws -> Columns? {
        if try successor(of: operation.seq) == nil { return row.visible }
        return operation.kind == .delete ? nil : operation.result
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
            crossesInsert: try new.changes && hasArrival(after: pending.seq, before: end))
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
        try transaction.insert(operation)
        operation.seq = transaction.db.insertedRowID
        transaction.effects.madeWork = true
    }

    /// Saves every column that may change. Each save is a new revision.
    func save(_ operation: inout TableOperation) throws {
        operation.revision += 1
        try transaction.update(operation)
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

/// The operations that may be sent, and when: `operations` with the times of their next attempts.
struct DueOperations {
    let transaction: Transaction

    /// The highest `seq` given so far. A push that starts now ends there.
    func bookend() throws -> Int64 {
        try transaction.integer("SELECT seq FROM sqlite_sequence WHERE name = 'operations'") ?? 0
    }

    /// The operations that may be sent now, in order, after `seq` and up to the bookend. A waiting or
    /// unknown operation is included once its time has come. Of each item only the first operation is
    /// included, and none of a table that is put off or left out.
    func next(
        after seq: Int64 = 0, upTo bookend: Int64, without tables: Set<Int64> = [], limit: Int
    ) throws -> [TableOperation] {
        let others =
            tables.isEmpty
            ? ""
            : "AND table_id NOT IN (\(tables.sorted().map(String.init).joined(separator: ",")))"
        return try transaction.all(
            """
            SELECT \(TableOperation.stored.names) FROM operations INDEXED BY operations_due
            JOIN tables ON tables.id = operations.table_id
            WHERE \(Self.mayBeSent) AND seq > ? AND seq <= ? AND \(Self.isDue) \(others)
            ORDER BY seq LIMIT ?
            """, [seq, bookend] + now + [limit], keep: tables.isEmpty, TableOperation.init)
    }

    /// The operations that are due and were made before another one, with their tables: the first
    /// ``SyncLimits/aheadOfLive``.
    func ahead(of operation: TableOperation) throws -> [(id: OperationID, table: Int64)] {
        try transaction.all(
            """
            SELECT op_id, table_id FROM operations INDEXED BY operations_due
            WHERE \(Self.mayBeSent) AND seq < ? AND \(Self.isDue) ORDER BY seq
            LIMIT \(SyncLimits.aheadOfLive)
            """, [operation.seq] + now
        ) { (id: $0[0], table: $0[1]) }
    }

    /// The condition of the index `operations_due`. SQLite uses the index only for this exact text.
    static let mayBeSent = """
        (state = 'queued' OR state = 'waiting' OR state = 'unknown') AND successor_of IS NULL
          AND waits_for IS NULL
        """

    /// The condition that an operation's time has come, and its table's. Its parameters are ``now``.
    private static let isDue = """
        (state = 'queued' OR next_attempt_at <= ?) AND table_id NOT IN \(TableWaits.restingTables)
        """
    private var now: StatementValues {
        [transaction.now.milliseconds, transaction.now.milliseconds]
    }

    /// The number of operations that may be sent now.
    func count(upTo bookend: Int64) throws -> Int {
        let count = try transaction.integer(
            """
            SELECT count(*) FROM operations INDEXED BY operations_due
            WHERE \(Self.mayBeSent) AND seq <= ? AND \(Self.isDue)
            """, [bookend] + now)
        return Int(count ?? 0)
    }

    /// Whether an operation is queued and due. A successor of an operation that waits or is stuck is not.
    func hasQueued() throws -> Bool {
        try transaction.integer(
            """
            SELECT 1 FROM operations INDEXED BY operations_due
            WHERE \(Self.mayBeSent) AND state = 'queued'
              AND table_id NOT IN \(TableWaits.restingTables) LIMIT 1
            """, [transaction.now.milliseconds]) != nil
    }

    /// The tables that have an operation which may be sent now.
    func tables() throws -> Set<TableName> {
        let names: [String] = try transaction.column(
            """
            SELECT name FROM tables WHERE id IN (
              SELECT table_id FROM operations INDEXED BY operations_due
              WHERE \(Self.mayBeSent) AND \(Self.isDue))
            """, now)
        return Set(names.compactMap { TableName($0) })
    }

    /// When the next operation is due that waits for a time, or whose table is put off; nil if none does.
    func earliestAttempt() throws -> Instant? {
        let attempt = try transaction.integer(
            """
            SELECT min(next_attempt_at) FROM operations INDEXED BY operations_timed
            WHERE state IN ('waiting', 'unknown') AND successor_of IS NULL
              AND waits_for IS NULL AND next_attempt_at IS NOT NULL
              AND table_id NOT IN \(TableWaits.restingTables)
            """, [transaction.now.milliseconds])
        let table = try transaction.integer(
            """
            SELECT min(until) FROM table_waits JOIN tables USING (name_key)
            WHERE table_waits.kind = 'push' AND until > ? AND EXISTS (
              SELECT 1 FROM operations INDEXED BY operations_due
              WHERE \(Self.mayBeSent) AND table_id = tables.id)
            """, [transaction.now.milliseconds])
        return [attempt, table].compactMap(\.self).min().map { Instant(milliseconds: $0) }
    }

    /// Makes every operation and every table due that waits only for a time, but not before the time that the
    /// backend named in `Retry-After`.
    func makeAllDue() throws {
        try transaction.tableWaits.makeAllDue()
        try transaction.run(
            """
            UPDATE operations SET next_attempt_at = max(?1, coalesce(not_before, 0))
            WHERE state IN ('waiting', 'unknown') AND waits_for IS NULL
              AND coalesce(next_attempt_at, ?1 + 1) > max(?1, coalesce(not_before, 0))
            """, [transaction.now.milliseconds])
        transaction.effects.madeWork = true
    }

    /// Makes every waiting and unknown operation due, because the clock that set their times was wrong.
    func forgetTimes() throws {
        try transaction.run("UPDATE operations SET not_before = NULL WHERE not_before IS NOT NULL")
        try transaction.tableWaits.forgetTimes()
        try makeAllDue()
    }

    /// The number of operations that wait to be retried, with those whose tables are put off, and the reason and
    /// status of the first. Not counted are decisions that can still be undone, and operations of tables that a
    /// person has paused.
    func waiting() throws -> (count: Int, reason: String?, status: Int?) {
        let condition = """
            state IN ('waiting', 'unknown') AND successor_of IS NULL AND waits_for IS NULL
              AND table_id NOT IN \(TableWaits.pausedTables)
            """
        let waiting = try transaction.integer(
            "SELECT count(*) FROM operations INDEXED BY operations_timed WHERE \(condition)")
        let held = try transaction.integer(
            """
            SELECT count(*) FROM operations INDEXED BY operations_due
            WHERE \(Self.mayBeSent) AND state = 'queued'
              AND table_id IN \(TableWaits.putOffTables) AND table_id NOT IN \(TableWaits.pausedTables)
            """, [transaction.now.milliseconds])
        let count =
            (waiting ?? 0) + (held ?? 0) - (try DecisionHold(transaction: transaction).count())
        guard count > 0 else { return (0, nil, nil) }
        let first: (reason: String?, status: Int?)? = try transaction.first(
            """
            SELECT reason, last_status FROM operations INDEXED BY operations_timed WHERE \(condition)
              AND coalesce(reason, '') NOT LIKE '%' || ? ORDER BY next_attempt_at LIMIT 1
            """, [DecisionHold.mark]
        ) { (reason: $0[0] as String?, status: $0[1] as Int?) }
        return (Int(count), first?.reason, first?.status)
    }

    /// The number of operations that would be sent if a person had not paused their tables.
    func paused() throws -> Int {
        let count = try transaction.integer(
            """
            SELECT count(*) FROM operations INDEXED BY operations_due
            WHERE \(Self.mayBeSent) AND table_id IN \(TableWaits.pausedTables)
            """)
        return Int(count ?? 0)
    }

    /// Whether a waiting operation's last attempt, or a table's last failure, is later than `now`.
    func hasAttempts(after now: Instant) throws -> Bool {
        try transaction.integer(
            """
            SELECT 1 FROM operations INDEXED BY operations_timed
            WHERE state IN ('waiting', 'unknown') AND successor_of IS NULL
              AND waits_for IS NULL AND last_attempt_at > ? LIMIT 1
            """, [now.milliseconds]) != nil || transaction.tableWaits.hasFailures(after: now)
    }
}
