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

    /// A table's wait, which may be over; nil if its last request did not fail.
    func wait(_ kind: TableWait.Kind, of table: TableName) throws -> TableWait? {
        try transaction.first(
            "SELECT \(WaitRow.stored.names) FROM table_waits WHERE name_key = ? AND kind = ?",
            [table.key, kind.rawValue], WaitRow.init)?.wait
    }

    func all(_ kind: TableWait.Kind) throws -> [Int64: TableWait] {
        let found = try transaction.all(
            "SELECT \(WaitRow.listed.names) FROM table_waits JOIN tables USING (name_key) WHERE kind = ?",
            [kind.rawValue], WaitRow.listed.read)
        return Dictionary(uniqueKeysWithValues: found.map { ($0.tableID, $0.wait) })
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
        let row = WaitRow(table: table.key, kind: kind, wait: wait)
        try transaction.run(WaitRow.stored.replace, WaitRow.stored.inserted(row))
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

/// A wait as it is stored.
private struct WaitRow: Stored {
    var table: String
    var kind: TableWait.Kind
    var wait: TableWait
    /// The number of the table; in ``listed`` rows.
    var tableID: Int64 = 0

    static let stored = StoredColumns<WaitRow>(
        "table_waits",
        blank: WaitRow(
            table: "", kind: .push,
            wait: TableWait(reason: "", since: .earliest, failures: 0, until: .earliest)),
        [
            .init("name_key", \.table, .key), .init("kind", \.kind, .key),
            .init("reason", \.wait.reason), .init("since", \.wait.since),
            .init("failures", \.wait.failures), .init("until", \.wait.until),
            .init("not_before", \.wait.notBefore),
            .init("method", get: \.wait.request?.method) { row, method in
                row.wait.request = method.map {
                    FailedRequest(method: $0, path: "", status: nil, at: .earliest)
                }
            },
            .init("path", get: \.wait.request?.path) { $0.wait.request?.path = $1 ?? "" },
            .init("status", get: \.wait.request?.status) { $0.wait.request?.status = $1 },
            .init("failed_at", get: \.wait.request?.at) { $0.wait.request?.at = $1 ?? .earliest },
        ])
    /// With the number of its table.
    static let listed = stored.joined([.init("tables.id", \.tableID, .joined)])
}

extension TableWait.Kind: ColumnValue {}
