import Storage
public import TablesProtocol

/// Why and how long one table is put off: the backend fails for it with 502, 503 or 504, and answers
/// otherwise.
public struct TableWait: Sendable, Hashable {
    enum Kind: String, Sendable, Hashable {
        /// The table's operations.
        case push
        /// The table's pulls.
        case pull
    }
    /// What failed, in plain words.
    public var reason: String
    /// When the table began to fail.
    public var since: Instant
    public var failures: Int
    /// When it is tried again. If that has passed, it is due.
    public var until: Instant
    /// Before which the backend asked not to be tried (Retry-After); nil if it named no time.
    public var notBefore: Instant?
    public var request: FailedRequest?

    /// What a person is told of a table that fails.
    static func reason(_ table: TableName, status: Int?) -> String {
        let status = status.map { " (\($0))" } ?? ""
        return "The backend is not available for table \(table)\(status); it answers otherwise."
    }

    /// The wait after another failure. Pure, except for the random jitter.
    ///
    /// Requests that were in flight together fail together, which counts as one failure.
    static func after(
        _ failure: Prover.Failure, _ earlier: TableWait?, now: Instant, random: any RandomSource
    ) -> TableWait {
        var wait =
            earlier ?? TableWait(reason: "", since: now, failures: 0, until: now)
        (wait.reason, wait.request) = (failure.reason, failure.request ?? wait.request)
        if wait.until <= now {
            wait.failures += 1
            wait.notBefore = nil
            wait.until = now.advanced(by: Backoff.table(failures: wait.failures, random: random))
        }
        if let named = failure.retryAfter {
            let time = now.advanced(by: named)
            wait.notBefore = max(time, wait.notBefore ?? time)
            wait.until = wait.notBefore ?? time
        }
        return wait
    }
}

/// The tables that are put off: `table_waits`.
struct TableWaits {
    let transaction: Transaction

    /// The numbers of the tables whose operations a person has paused.
    static let pausedTables = "(SELECT id FROM tables WHERE pause IN ('pushes', 'all'))"
    /// The numbers of the tables whose operations are put off after a failure. Its parameter is the present
    /// time.
    static let putOffTables = """
        (SELECT tables.id FROM table_waits JOIN tables USING (name_key)
          WHERE table_waits.kind = 'push' AND until > ?)
        """
    /// The numbers of the tables of which nothing is sent now: both. Its parameter is the present time.
    static let restingTables =
        "(SELECT id FROM \(putOffTables) UNION ALL SELECT id FROM \(pausedTables))"
    private static let columns =
        "reason, since, failures, until, not_before, method, path, status, failed_at"

    /// A table's wait, which may be over; nil if its last request did not fail.
    func wait(_ kind: TableWait.Kind, of table: TableName) throws -> TableWait? {
        try transaction.first(
            "SELECT \(Self.columns) FROM table_waits WHERE name_key = ? AND kind = ?",
            [table.key, kind.rawValue], TableWait.init)
    }

    func all(_ kind: TableWait.Kind) throws -> [Int64: TableWait] {
        let found: [(Int64, TableWait)] = try transaction.all(
            """
            SELECT \(Self.columns), tables.id FROM table_waits JOIN tables USING (name_key)
            WHERE table_waits.kind = ?
            """, [kind.rawValue]
        ) { ($0[9], TableWait($0)) }
        return Dictionary(uniqueKeysWithValues: found)
    }

    /// The pull that is due first after a failure; nil if none is put off.
    func nextPull() throws -> (table: TableName, at: Instant)? {
        try transaction.first(
            """
            SELECT coalesce(name, name_key), until FROM table_waits LEFT JOIN tables USING (name_key)
            WHERE kind = 'pull' AND coalesce(pause, 'nothing') NOT IN ('pulls', 'all')
            ORDER BY until LIMIT 1
            """, []
        ) { row in
            TableName(row[0] as String).map { ($0, Instant(milliseconds: row[1])) }
        }
    }

    /// Puts a table off after a failure.
    func note(
        _ kind: TableWait.Kind, of table: TableName, _ failure: Prover.Failure,
        random: any RandomSource
    ) throws -> TableWait {
        let wait = TableWait.after(
            failure, try self.wait(kind, of: table), now: transaction.now, random: random)
        try transaction.run(
            """
            REPLACE INTO table_waits(name_key, kind, \(Self.columns))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                table.key, kind.rawValue, wait.reason, wait.since.milliseconds, wait.failures,
                wait.until.milliseconds, wait.notBefore?.milliseconds, wait.request?.method,
                wait.request?.path, wait.request?.status, wait.request?.at.milliseconds,
            ])
        transaction.events.emit(.status, table: table)
        return wait
    }

    /// Ends a table's wait.
    func clear(_ kind: TableWait.Kind, of table: TableName) throws {
        try transaction.run(
            "DELETE FROM table_waits WHERE name_key = ? AND kind = ?", [table.key, kind.rawValue])
        if transaction.db.changedRows > 0 { transaction.events.emit(.status, table: table) }
    }

    func remove(of table: TableName) throws {
        try transaction.run("DELETE FROM table_waits WHERE name_key = ?", [table.key])
    }

    /// Makes every table due, or one, but not before the time that the backend named.
    func makeAllDue(of table: TableName? = nil) throws {
        try transaction.run(
            """
            UPDATE table_waits SET until = max(?1, coalesce(not_before, 0))
            WHERE until > ?1 AND name_key = coalesce(?2, name_key)
            """, [transaction.now.milliseconds, table?.key])
        if transaction.db.changedRows > 0 { transaction.effects.madeWork = true }
    }

    /// Makes every table due, because the clock that set the times was wrong.
    func forgetTimes() throws {
        try transaction.run("UPDATE table_waits SET not_before = NULL")
        try makeAllDue()
    }

    /// Whether a table failed later than `now`.
    func hasFailures(after now: Instant) throws -> Bool {
        try transaction.integer(
            "SELECT 1 FROM table_waits WHERE failed_at > ? LIMIT 1", [now.milliseconds]) != nil
    }
}

extension TableWait {
    fileprivate init(_ row: StatementRow) {
        let method: String? = row[5]
        let path: String? = row[6]
        let failedAt: Int64? = row[8]
        self.init(
            reason: row[0], since: Instant(milliseconds: row[1]), failures: row[2],
            until: Instant(milliseconds: row[3]),
            notBefore: (row[4] as Int64?).map { Instant(milliseconds: $0) })
        guard let method, let path, let failedAt else { return }
        request = FailedRequest(
            method: method, path: path, status: row[7], at: Instant(milliseconds: failedAt))
    }
}
