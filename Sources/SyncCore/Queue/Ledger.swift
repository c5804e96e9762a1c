import Storage
import TablesProtocol

/// The counts of every accepted write. All but the queue only grow.
public struct Ledger: Sendable, Hashable {
    /// Writes that were answered with success, and operations that resolutions made.
    public var accepted: Int64
    public var applied: Int64
    /// Writes merged into others or without effect.
    public var collapsed: Int64
    /// Operations that a person or a policy discarded.
    public var discarded: Int64
    public var queue: QueueCounts
    /// How often an operation came into conflict.
    public var conflicts: Int64 = 0
    /// How often an operation was quarantined.
    public var refusals: Int64 = 0
    /// How often an operation was sent again.
    public var retries: Int64 = 0

    /// Whether every accepted write is accounted for.
    public var balances: Bool {
        accepted == applied + collapsed + discarded + Int64(queue.open)
    }
}

/// The number of operations in each open state.
public struct QueueCounts: Sendable, Hashable {
    /// Due now.
    public var queued = 0
    /// Will be tried again.
    public var waiting = 0
    /// In flight.
    public var sending = 0
    /// Sent without a verdict.
    public var unknown = 0
    /// Waiting for a decision.
    public var conflict = 0
    /// Refused by the backend.
    public var quarantined = 0

    public var open: Int { queued + waiting + sending + unknown + conflict + quarantined }

    public init() {}
}

/// The counters of writes and operations: `ledger` and `state_counts`.
struct LedgerTable {
    let transaction: Transaction

    /// The counts of every accepted write.
    /// - Throws: ``StoreError/damaged(_:)`` for a count beyond ``StoreLimits/largestCount``, which only
    ///   another program can have written: sums of such counts would stop the process.
    func read() throws -> Ledger {
        let found = try transaction.all("SELECT name, value FROM ledger") { row in
            (row[0] as String, try Self.checked(row[1]))
        }
        let counters = Dictionary(found, uniquingKeysWith: { $1 })
        return Ledger(
            accepted: counters["accepted"] ?? 0, applied: counters["done"] ?? 0,
            collapsed: counters["collapsed"] ?? 0, discarded: counters["discarded"] ?? 0,
            queue: try queueCounts(), conflicts: counters["conflict"] ?? 0,
            refusals: counters["quarantined"] ?? 0, retries: counters["retried"] ?? 0)
    }

    /// Counts a write that needed no operation of its own.
    func countCollapsedWrite() throws { try count(["accepted", "collapsed"]) }

    /// Takes back the count of a refusal that repeats one which was counted, within the same transaction.
    func uncountRefusal() throws {
        try transaction.run("UPDATE ledger SET value = value - 1 WHERE name = 'quarantined'")
    }

    /// Adds one to each of these counters.
    func count(_ names: [String]) throws {
        for name in names {
            try transaction.run("UPDATE ledger SET value = value + 1 WHERE name = ?", [name])
        }
    }

    private static func checked(_ count: Int64) throws -> Int64 {
        guard (-StoreLimits.largestCount...StoreLimits.largestCount).contains(count) else {
            throw StoreError.damaged("A counter has a value that none can have.")
        }
        return count
    }

    /// The number of operations in each open state.
    /// - Throws: as ``read()`` does.
    func queueCounts() throws -> QueueCounts {
        var counts = QueueCounts()
        let found = try transaction.all("SELECT state, sum(count) FROM state_counts GROUP BY state")
        { row in
            (state: OperationState(rawValue: row[0]), count: Int(try Self.checked(row[1])))
        }
        for (state, count) in found {
            switch state {
            case .queued: counts.queued = count
            case .sending: counts.sending = count
            case .waiting: counts.waiting = count
            case .unknown: counts.unknown = count
            case .conflict: counts.conflict = count
            case .quarantined: counts.quarantined = count
            case .done, .discarded, .collapsed, nil: break
            }
        }
        return counts
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
            SELECT \(TableOperation.columns) FROM operations INDEXED BY operations_due
            JOIN tables ON tables.id = operations.table_id
            WHERE \(Self.mayBeSent) AND seq > ? AND seq <= ? AND \(Self.isDue) \(others)
            ORDER BY seq LIMIT ?
            """, [seq, bookend] + now + [limit], keep: tables.isEmpty, TableOperation.init)
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

    /// The number of operations that wait to be retried, with those whose tables are put off, and the reason
    /// and status of the first. A decision that can still be undone waits for no retry, nor does what a person
    /// has paused.
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
