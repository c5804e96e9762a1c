import GRDB
import TablesProtocol

extension Transaction {
    /// Writes a run as it stands now.
    func save(_ run: Run) throws {
        let push = run.push ?? PushReport()
        let results = run.push.map { push in
            JSONList.text(
                push.results.suffix(StoreLimits.runResults).map { "\($0.state.rawValue) \($0.id)" })
        }
        try self.run(
            """
            INSERT INTO runs(id, kind, state, reason, started_at, ended_at, push_results, sent,
              applied, conflicts, quarantined, remaining)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT(id) DO UPDATE SET state = excluded.state, reason = excluded.reason,
              ended_at = excluded.ended_at, push_results = excluded.push_results,
              sent = excluded.sent, applied = excluded.applied, conflicts = excluded.conflicts,
              quarantined = excluded.quarantined, remaining = excluded.remaining
            """,
            [
                run.id, run.kind.rawValue, run.state.rawValue, run.reason,
                run.startedAt.milliseconds, run.endedAt?.milliseconds, results, push.sent,
                push.applied, push.conflicts, push.quarantined, push.left,
            ])
        for (number, pull) in run.pull.enumerated() { try save(pull, number, of: run.id) }
        try emit(.run)
    }

    private func save(_ pull: PullReport, _ number: Int, of id: String) throws {
        try run(
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

    /// One run.
    func run(id: String) throws -> Run? {
        try first("SELECT * FROM runs WHERE id = ?", [id]).flatMap(self.read)
    }

    /// A page of runs, latest first.
    func runs(before seq: Int64, limit: Int) throws -> [(seq: Int64, run: Run)] {
        try all("SELECT * FROM runs WHERE seq < ? ORDER BY seq DESC LIMIT ?", [seq, limit])
            .compactMap { row in try self.read(row).map { (row["seq"], $0) } }
    }

    /// Runs that a process left unfinished, after a restart.
    func recoverRuns() throws {
        try run(
            """
            UPDATE runs SET state = 'cancelled', ended_at = ?, reason = 'The process ended.'
            WHERE ended_at IS NULL
            """, [now.milliseconds])
    }

    private func read(_ row: Row) throws -> Run? {
        guard let kind = Run.Kind(rawValue: row["kind"]),
            let state = Run.State(rawValue: row["state"])
        else { return nil }
        var run = Run(
            id: row["id"], kind: kind, state: state, reason: row["reason"],
            startedAt: Instant(milliseconds: row["started_at"]),
            endedAt: (row["ended_at"] as Int64?).map { Instant(milliseconds: $0) })
        if let results: String = row["push_results"] {
            var push = PushReport()
            push.sent = row["sent"]
            push.applied = row["applied"]
            push.conflicts = row["conflicts"]
            push.quarantined = row["quarantined"]
            push.left = row["remaining"]
            push.results = JSONList.names(results).compactMap(Self.result)
            run.push = push
        }
        run.pull = try all(
            "SELECT * FROM run_pulls WHERE run = ? ORDER BY number", [row["seq"] as Int64]
        ).map(Self.pull)
        return run
    }

    private static func result(_ text: String) -> PushReport.Result? {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let state = OperationState(rawValue: String(parts[0])) else {
            return nil
        }
        return PushReport.Result(id: String(parts[1]), state: state)
    }

    private static func pull(_ row: Row) -> PullReport {
        var report = PullReport(table: row["table_name"])
        report.requests = row["requests"]
        report.received = row["received"]
        report.applied = row["applied"]
        report.skippedDirty = row["skipped_dirty"]
        report.deleted = row["deleted"]
        report.error = row["error"]
        return report
    }
}
