import Storage
import TablesProtocol

/// The operations that may be sent, and when: `operations` with the times of their next attempts.
struct DueOperations {
    let transaction: Transaction

    /// The highest `seq` given so far. A push that starts now ends there.
    func bookend() throws -> Int64 {
        try transaction.integer("SELECT seq FROM sqlite_sequence WHERE name = 'operations'") ?? 0
    }

    /// The operations that may be sent now, in order, after `seq` and up to the bookend. A waiting or
    /// unknown operation is included once its time has come. Of each item only the first operation is
    /// included.
    func next(
        after seq: Int64 = 0, upTo bookend: Int64, tables: Set<Int64>? = nil, limit: Int
    ) throws -> [TableOperation] {
        let only = tables.map { ids in
            "AND table_id IN (\(ids.sorted().map(String.init).joined(separator: ",")))"
        }
        return try transaction.all(
            """
            SELECT \(TableOperation.columns) FROM operations INDEXED BY operations_due
            JOIN tables ON tables.id = operations.table_id
            WHERE \(Self.mayBeSent) AND seq > ? AND seq <= ? AND (state = 'queued' OR next_attempt_at <= ?) \(only ?? "")
            ORDER BY seq LIMIT ?
            """, [seq, bookend, transaction.now.milliseconds, limit], keep: tables == nil,
            TableOperation.init)
    }

    /// The condition of the index `operations_due`. SQLite uses the index only for this exact text.
    private static let mayBeSent = """
        (state = 'queued' OR state = 'waiting' OR state = 'unknown') AND successor_of IS NULL
          AND waits_for IS NULL
        """

    /// The number of operations that may be sent now.
    func count(upTo bookend: Int64) throws -> Int {
        let count = try transaction.integer(
            """
            SELECT count(*) FROM operations INDEXED BY operations_due
            WHERE \(Self.mayBeSent) AND seq <= ? AND (state = 'queued' OR next_attempt_at <= ?)
            """, [bookend, transaction.now.milliseconds])
        return Int(count ?? 0)
    }

    /// Whether an operation is queued and due. A successor of an operation that waits or is stuck is not.
    func hasQueued() throws -> Bool {
        try transaction.integer(
            """
            SELECT 1 FROM operations INDEXED BY operations_due
            WHERE \(Self.mayBeSent) AND state = 'queued' LIMIT 1
            """) != nil
    }

    /// When the next waiting or unknown operation is due; nil if none waits for a time.
    func earliestAttempt() throws -> Instant? {
        try transaction.integer(
            """
            SELECT min(next_attempt_at) FROM operations INDEXED BY operations_timed
            WHERE state IN ('waiting', 'unknown') AND successor_of IS NULL
              AND waits_for IS NULL AND next_attempt_at IS NOT NULL
            """
        ).map { Instant(milliseconds: $0) }
    }

    /// Makes every operation due that waits only for a time, but not before the time that the backend named
    /// in `Retry-After`.
    func makeAllDue() throws {
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
        try makeAllDue()
    }

    /// The number of operations that wait to be retried, and the reason and status of the first.
    func waiting() throws -> (count: Int, reason: String?, status: Int?) {
        let condition =
            "state IN ('waiting', 'unknown') AND successor_of IS NULL AND waits_for IS NULL"
        let count = try transaction.integer(
            "SELECT count(*) FROM operations INDEXED BY operations_timed WHERE \(condition)")
        guard let count, count > 0 else { return (0, nil, nil) }
        let first: (reason: String?, status: Int?)? = try transaction.first(
            """
            SELECT reason, last_status FROM operations INDEXED BY operations_timed WHERE \(condition)
            ORDER BY next_attempt_at LIMIT 1
            """, []
        ) { (reason: $0[0] as String?, status: $0[1] as Int?) }
        return (Int(count), first?.reason, first?.status)
    }

    /// Whether a waiting operation's last attempt is later than `now`.
    func hasAttempts(after now: Instant) throws -> Bool {
        try transaction.integer(
            """
            SELECT 1 FROM operations INDEXED BY operations_timed
            WHERE state IN ('waiting', 'unknown') AND successor_of IS NULL
              AND waits_for IS NULL AND last_attempt_at > ? LIMIT 1
            """, [now.milliseconds]) != nil
    }
}
