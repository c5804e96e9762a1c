import Storage
import TablesProtocol

/// The runs and their pulls: `runs` and `run_pulls`.
struct RunLog: InTransaction {
    let transaction: Transaction

    /// Stores a run in its present state. A run that has ended does not change.
    func save(_ run: Run) throws {
        try transaction.run(Self.save, RunRow.stored.inserted(RunRow(run: run)))
        guard let seq = try transaction.integer("SELECT seq FROM runs WHERE id = ?", [run.id])
        else { return }
        for (number, pull) in run.pull.enumerated() {
            let row = RunPull(run: seq, number: number, report: pull)
            try transaction.run(RunPull.stored.replace, RunPull.stored.inserted(row))
        }
        events.emit(.run)
    }

    private static let save = """
        \(RunRow.stored.insert)
        ON CONFLICT(id) DO UPDATE SET \(RunRow.stored.excluded) WHERE ended_at IS NULL
        """

    /// The run with an id, with its pulls.
    func run(id: String) throws -> Run? {
        try transaction.first("\(Self.selectRuns) WHERE id = ?", [id], RunRow.init).map {
            try whole($0).run
        }
    }

    /// A page of runs, latest first.
    func page(before seq: Int64, limit: Int) throws -> [(seq: Int64, run: Run)] {
        try transaction.all(
            "\(Self.selectRuns) WHERE seq < ? ORDER BY seq DESC LIMIT ?", [seq, limit], RunRow.init
        ).map { ($0.seq, try whole($0).run) }
    }

    /// Ends the runs that a process left unfinished, after a restart.
    func recover() throws {
        try transaction.run(
            """
            UPDATE runs SET state = 'cancelled', ended_at = ?, reason = 'The process ended.'
            WHERE ended_at IS NULL
            """, [transaction.now.milliseconds])
    }

    private static let selectRuns = "SELECT \(RunRow.stored.names) FROM runs"

    private func whole(_ found: RunRow) throws -> RunRow {
        var found = found
        found.run.identity = transaction.identity
        found.run.pull = try transaction.all(
            "SELECT \(RunPull.stored.names) FROM run_pulls WHERE run = ? ORDER BY number",
            [found.seq], RunPull.init
        ).map(\.report)
        return found
    }
}

/// A run as it is stored, without its pulls.
private struct RunRow: Stored {
    var seq: Int64 = 0
    var run: Run
    private var push = PushReport()

    init(run: Run) {
        self.run = run
        push = run.push ?? push
    }

    static let stored = StoredColumns<RunRow>(
        "runs", blank: RunRow(run: Run(id: "", identity: "", kind: .sync, startedAt: .earliest)),
        [
            .init("seq", \.seq, .assigned), .init("id", \.run.id, .fixed),
            .init("kind", \.run.kind, .fixed), .init("state", \.run.state),
            .init("reason", \.run.reason), .init("started_at", \.run.startedAt, .fixed),
            .init("ended_at", \.run.endedAt), .init("sent", \.push.sent),
            .init("applied", \.push.applied), .init("conflicts", \.push.conflicts),
            .init("quarantined", \.push.quarantined), .init("remaining", \.push.left),
            .init("push_results", get: { $0.run.push.map(results) }) { row, texts in
                guard let texts else { return }
                row.push.results = texts.compactMap(result)
                row.run.push = row.push
            },
        ])

    private static func results(_ push: PushReport) -> [String] {
        push.results.suffix(StoreLimits.runResults).map { "\($0.state.rawValue) \($0.id)" }
    }

    private static func result(_ text: String) -> PushReport.Result? {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let state = OperationState(rawValue: String(parts[0])) else {
            return nil
        }
        return PushReport.Result(id: String(parts[1]), state: state)
    }
}

/// What one table's pull did in a run.
private struct RunPull: Stored {
    var run: Int64
    var number: Int
    var report: PullReport

    static let stored = StoredColumns<RunPull>(
        "run_pulls", blank: RunPull(run: 0, number: 0, report: PullReport(table: "")),
        [
            .init("run", \.run, .key), .init("number", \.number, .key),
            .init("table_name", \.report.table), .init("requests", \.report.requests),
            .init("received", \.report.received), .init("applied", \.report.applied),
            .init("skipped_dirty", \.report.skippedDirty), .init("deleted", \.report.deleted),
            .init("error", \.report.error),
        ])
}

extension RunKind: ColumnValue {}
extension RunState: ColumnValue {}
