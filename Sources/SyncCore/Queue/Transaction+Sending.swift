import Storage
import TablesProtocol

extension Transaction {
    /// The highest place in the order given so far: where a push that starts now ends.
    func bookend() throws -> Int64 {
        try integer("SELECT seq FROM sqlite_sequence WHERE name = 'operations'") ?? 0
    }

    /// Operations that may be sent now, in order, after one place and up to the bookend. Waiting and
    /// unknown ones are among them when their time has come; of one item only the first.
    func due(
        after seq: Int64 = 0, upTo bookend: Int64, tables: Set<Int64>? = nil, limit: Int
    ) throws -> [TableOperation] {
        let only = tables.map { ids in
            "AND table_id IN (\(ids.sorted().map(String.init).joined(separator: ",")))"
        }
        return try all(
            """
            SELECT \(TableOperation.columns) FROM operations INDEXED BY operations_due
            JOIN tables ON tables.id = operations.table_id
            WHERE \(Self.mayBeSent) AND seq > ? AND seq <= ? AND (state = 'queued' OR next_attempt_at <= ?) \(only ?? "")
            ORDER BY seq LIMIT ?
            """, [seq, bookend, now.milliseconds, limit], keep: tables == nil, TableOperation.init)
    }

    /// The condition of the index `operations_due`, in its words: by others SQLite would not know it.
    private static let mayBeSent = """
        (state = 'queued' OR state = 'waiting' OR state = 'unknown') AND successor_of IS NULL
          AND waits_for IS NULL
        """

    /// How many operations may be sent now.
    func dueCount(upTo bookend: Int64) throws -> Int {
        let count = try integer(
            """
            SELECT count(*) FROM operations INDEXED BY operations_due
            WHERE \(Self.mayBeSent) AND seq <= ? AND (state = 'queued' OR next_attempt_at <= ?)
            """, [bookend, now.milliseconds])
        return Int(count ?? 0)
    }

    /// Whether anything is due without waiting for a time. What follows an operation that waits or
    /// is stuck is not.
    func hasQueued() throws -> Bool {
        try integer(
            """
            SELECT 1 FROM operations INDEXED BY operations_due
            WHERE \(Self.mayBeSent) AND state = 'queued' LIMIT 1
            """) != nil
    }

    /// When the next waiting or unknown operation is due; nil when none waits for a time.
    func earliestAttempt() throws -> Instant? {
        try integer(
            """
            SELECT min(next_attempt_at) FROM operations INDEXED BY operations_timed
            WHERE state IN ('waiting', 'unknown') AND successor_of IS NULL
              AND waits_for IS NULL AND next_attempt_at IS NOT NULL
            """
        ).map { Instant(milliseconds: $0) }
    }

    /// Makes every operation due that waits for time alone, but for the time that the backend has asked
    /// to be left alone.
    func makeAllDue() throws {
        try run(
            """
            UPDATE operations SET next_attempt_at = max(?1, coalesce(not_before, 0))
            WHERE state IN ('waiting', 'unknown') AND waits_for IS NULL
              AND coalesce(next_attempt_at, ?1 + 1) > max(?1, coalesce(not_before, 0))
            """, [now.milliseconds])
        effects.madeWork = true
    }

    /// Makes every waiting and unknown operation due: the clock by which they waited was wrong.
    func forgetTimes() throws {
        try run("UPDATE operations SET not_before = NULL WHERE not_before IS NOT NULL")
        try makeAllDue()
    }

    /// How many operations wait to be tried again, and why the first does.
    func waiting() throws -> (count: Int, reason: String?) {
        let condition =
            "state IN ('waiting', 'unknown') AND successor_of IS NULL AND waits_for IS NULL"
        let count = try integer(
            "SELECT count(*) FROM operations INDEXED BY operations_timed WHERE \(condition)")
        guard let count, count > 0 else { return (0, nil) }
        let reason: String?? = try first(
            """
            SELECT reason FROM operations INDEXED BY operations_timed WHERE \(condition)
            ORDER BY next_attempt_at LIMIT 1
            """, []
        ) { $0[0] as String? }
        return (Int(count), reason ?? nil)
    }

    /// Records that a request is about to be made. Commit before sending it.
    /// - Returns: the operation as it is sent; nil when it changed meanwhile and must be left alone.
    func markSending(
        _ operation: TableOperation, _ attempt: AttemptStart
    ) throws -> TableOperation? {
        switch operation.state {
        case .queued, .waiting, .unknown: break
        case .sending, .conflict, .quarantined, .done, .discarded, .collapsed: return nil
        }
        var current = operation
        current.state = .sending
        current.reason = nil
        current.attempts += 1
        current.firstAttemptAt = current.firstAttemptAt ?? now
        current.lastAttemptAt = now
        current.nextAttemptAt = nil
        current.revision += 1
        // Only what changes is written, as when it is done, and only where nothing has changed since it
        // was read: to read it again would cost more than to write it.
        try run(
            """
            UPDATE operations SET state = ?, reason = NULL, revision = ?, attempts = ?,
              first_attempt_at = ?, last_attempt_at = ?, next_attempt_at = NULL, not_before = NULL
            WHERE seq = ? AND revision = ? AND state = ? AND successor_of IS NULL
              AND waits_for IS NULL
            """,
            [
                current.state.rawValue, current.revision, current.attempts,
                current.firstAttemptAt?.milliseconds, now.milliseconds, current.seq,
                operation.revision, operation.state.rawValue,
            ])
        guard db.changedRows == 1 else { return nil }
        effects.madeWork = true
        try run(
            """
            INSERT INTO attempts(operation, number, started_at, method, target, request_body,
              request_fields)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                current.seq, current.attempts, now.milliseconds, attempt.method, attempt.target,
                attempt.body?.text, JSONList.text(attempt.fields),
            ])
        emit(.operation, current)
        return current
    }

    /// Ends the attempt under way.
    func end(
        _ operation: TableOperation, _ attempt: AttemptEnd, _ state: OperationState
    ) throws {
        try run(
            """
            UPDATE attempts SET ended_at = ?, status = ?, response_excerpt = ?, outcome = ?,
              error = ?, reach = ?, response_fields = ?
            WHERE operation = ? AND number = ? AND ended_at IS NULL
            """,
            [
                now.milliseconds, attempt.status, attempt.response.map(Self.excerpt),
                state.rawValue, attempt.error, attempt.reach, JSONList.text(attempt.fields),
                operation.seq, operation.attempts,
            ])
    }

    private static func excerpt(_ text: String) -> String {
        String(decoding: text.utf8.prefix(StoreLimits.responseExcerptBytes), as: UTF8.self)
    }

    /// Remembers the backend's highest integer id before an insert is first sent.
    func setHighestID(_ id: Int64, of seq: Int64) throws {
        try run("UPDATE operations SET highest_id = ? WHERE seq = ?", [id, seq])
    }

    /// What was on its way has no verdict, and nobody waits for one any more, so nobody knows whether it
    /// arrived: after a restart, or when its outcome could not be written.
    func recover(because cause: String = "The process ended before the answer came") throws {
        try run(
            """
            UPDATE attempts SET ended_at = ?1, outcome = 'unknown', error = ?2 || '.'
            WHERE ended_at IS NULL
            """, [now.milliseconds, cause])
        try run(
            """
            UPDATE operations SET state = 'unknown', maybe_applied = 1, may_arrive_late = 1,
              next_attempt_at = ?1, revision = revision + 1,
              reason = ?2 || '; the row will be read back.'
            WHERE state = 'sending'
            """, [now.milliseconds, cause])
    }

    /// Whether anything is on its way, or was when its outcome could not be written.
    func hasSending() throws -> Bool {
        try integer("SELECT 1 FROM operations WHERE state = 'sending' LIMIT 1") != nil
    }

    /// How many operations are in each open state.
    func queueCounts() throws -> QueueCounts {
        var counts = QueueCounts()
        let found = try all("SELECT state, sum(count) FROM state_counts GROUP BY state") { row in
            (state: OperationState(rawValue: row[0]), count: row[1] as Int)
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
