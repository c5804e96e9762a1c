import Storage
import TablesProtocol

/// The runs and their pulls: `runs` and `run_pulls`.
struct RunLog: InTransaction {
    let transaction: Transaction

    /// Stores a run in its present state. A run that has ended does not change.
    func save(_ run: Run) throws {
        let push = run.push ?? PushReport()
        let results = run.push.map { push in
            JSONList.text(
                push.results.suffix(StoreLimits.runResults).map { "\($0.state.rawValue) \($0.id)" })
        }
        try transaction.run(
            """
            INSERT INTO runs(id, kind, state, reason, started_at, ended_at, push_results, sent,
              applied, conflicts, quarantined, remaining)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT(id) DO UPDATE SET state = excluded.state, reason = excluded.reason,
              ended_at = excluded.ended_at, push_results = excluded.push_results,
              sent = excluded.sent, applied = excluded.applied, conflicts = excluded.conflicts,
              quarantined = excluded.quarantined, remaining = excluded.remaining
              WHERE ended_at IS NULL
            """,
            [
                run.id, run.kind.rawValue, run.state.rawValue, run.reason,
                run.startedAt.milliseconds, run.endedAt?.milliseconds, results, push.sent,
                push.applied, push.conflicts, push.quarantined, push.left,
            ])
        for (number, pull) in run.pull.enumerated() { try save(pull, number, of: run.id) }
        events.emit(.run)
    }

    private func save(_ pull: PullReport, _ number: Int, of id: String) throws {
        try transaction.run(
            """
            INSERT OR REPLACE INTO run_pulls(run, number, table_name, requests, received, applied,
              skipped_dirty, deleted, error)
            SELECT seq, ?, ?, ?, ?, ?, ?, ?, ? FROM runs WHERE id = ?
            """,
            [
                number, pull.table, pull.requests, pull.received, pull.applied, pull.skippedDirty,
                pull.deleted, pull.error, id,
            ])
    }

    /// The run with an id, with its pulls.
    func run(id: String) throws -> Run? {
        try transaction.first("\(Self.selectRuns) WHERE id = ?", [id], Self.run).map {
            try whole($0)
        }
    }

    /// A page of runs, latest first.
    func page(before seq: Int64, limit: Int) throws -> [(seq: Int64, run: Run)] {
        try transaction.all(
            "\(Self.selectRuns) WHERE seq < ? ORDER BY seq DESC LIMIT ?", [seq, limit], Self.run
        ).map { ($0.seq, try whole($0)) }
    }

    /// Ends the runs that a process left unfinished, after a restart.
    func recover() throws {
        try transaction.run(
            """
            UPDATE runs SET state = 'cancelled', ended_at = ?, reason = 'The process ended.'
            WHERE ended_at IS NULL
            """, [transaction.now.milliseconds])
    }

    /// The columns in the order in which ``run(_:)`` reads them.
    private static let selectRuns = """
        SELECT seq, id, kind, state, reason, started_at, ended_at, push_results, sent, applied,
          conflicts, quarantined, remaining FROM runs
        """

    private static func run(_ row: StatementRow) -> (seq: Int64, run: Run)? {
        guard let kind = RunKind(rawValue: row[2]), let state = RunState(rawValue: row[3])
        else { return nil }
        var run = Run(
            id: row[1], kind: kind, state: state, reason: row[4],
            startedAt: Instant(milliseconds: row[5]),
            endedAt: (row[6] as Int64?).map { Instant(milliseconds: $0) })
        if let results: String = row[7] {
            var push = PushReport()
            push.sent = row[8]
            push.applied = row[9]
            push.conflicts = row[10]
            push.quarantined = row[11]
            push.left = row[12]
            push.results = JSONList.names(results).compactMap(Self.result)
            run.push = push
        }
        return (row[0], run)
    }

    private func whole(_ found: (seq: Int64, run: Run)) throws -> Run {
        var run = found.run
        run.pull = try transaction.all(
            """
            SELECT table_name, requests, received, applied, skipped_dirty, deleted, error
            FROM run_pulls WHERE run = ? ORDER BY number
            """, [found.seq], Self.pull)
        return run
    }

    private static func result(_ text: String) -> PushReport.Result? {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let state = OperationState(rawValue: String(parts[0])) else {
            return nil
        }
        return PushReport.Result(id: String(parts[1]), state: state)
    }

    private static func pull(_ row: StatementRow) -> PullReport {
        var report = PullReport(table: row[0])
        report.requests = row[1]
        report.received = row[2]
        report.applied = row[3]
        report.skippedDirty = row[4]
        report.deleted = row[5]
        report.error = row[6]
        return report
    }
}
