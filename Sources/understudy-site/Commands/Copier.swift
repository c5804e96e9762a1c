import Backend
import Platform
import Program
import Site
import SyncCore
import TablesProtocol

/// Moves the tables of a store, which are pulled from another backend, into a backend, and compares the two.
struct Copier {
    /// One table after its copy.
    private struct Table {
        let name: TableName
        let comparison: RowComparison
        /// How many rows of the other backend no store can take.
        let setAside: Int

        var differs: Bool { !comparison.differences.isEmpty || setAside > 0 }
    }

    private let backend: TablesBackend
    private let isInUse: Bool
    private let owner: MovedOwner?
    private var report = MovingReport()
    private var columns: MovedColumns
    private var tables: [Table] = []
    private var problems: [StartProblem] = []
    private var bar = ProgressBar()

    /// - Parameters:
    ///   - owner: whose rows the other backend gives; nil for all.
    ///   - columns: what the settings of the backend here say about columns.
    init(backend: TablesBackend, isInUse: Bool, owner: MovedOwner?, columns: MovedColumns) {
        self.owner = owner
        self.columns = columns
        self.backend = backend
        self.isInUse = isInUse
    }

    /// Whether a row differs between the two sides, or has another owner than the named one, or lacks an
    /// owner that it needs.
    var differs: Bool {
        tables.contains(where: \.differs) || report.hasOtherOwners || columns.hasRowsWithoutOwner
    }

    /// Why not every table was copied: all sentences, with the exit code of the first; nil where all were.
    var problem: StartProblem? {
        problems.first.map { first in
            StartProblem(problems.map(\.sentence).joined(separator: " "), first.exitCode)
        }
    }

    /// Copies tables one after another. One that fails stops the others only where the other backend does not
    /// answer.
    mutating func copy(_ tables: [TableName], _ engine: SyncEngine, _ store: Store) async {
        for table in tables {
            do throws(StartProblem) {
                try await copy(table, engine, store)
            } catch {
                problems.append(error)
                if error.exitCode == .offline { return }
            }
        }
    }

    /// Copies one table.
    ///
    /// 1. It is pulled, from where the last pull has stopped.
    /// 2. It is pulled as a whole and compared with what was pulled: rows that changed meanwhile are the newer
    ///    ones, and rows that are gone are gone.
    /// 3. Its rows move in.
    /// 4. The rows here are compared with those that were pulled.
    private mutating func copy(
        _ table: TableName, _ engine: SyncEngine, _ store: Store
    ) async throws(StartProblem) {
        defer { bar.end() }
        try await pull(table, engine, reconcile: false)
        try await pull(table, engine, reconcile: true)
        do {
            guard
                let status = try await store.tables().first(where: {
                    TableName($0.name)?.key == table.key
                })
            else { throw StartProblem("The other backend gave no list of \(table).", .error) }
            try await move(table, status.idKind, store)
            tables.append(
                Table(
                    name: table, comparison: try await compare(table, store),
                    setAside: status.setAside))
        } catch let problem as StartProblem {
            throw problem
        } catch {
            throw StartProblem("\(table): \(error)", .error)
        }
    }

    private func pull(
        _ table: TableName, _ engine: SyncEngine, reconcile: Bool
    ) async throws(StartProblem) {
        let what = reconcile ? "comparing \(table)" : "pulling \(table)"
        let run = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                var bar = ProgressBar()
                while !Task.isCancelled {
                    if let progress = await engine.runs().first?.progress {
                        bar.draw(what, done: progress.done, total: progress.total)
                    }
                    try? await Task.sleep(for: .milliseconds(Program.Limits.runPollMilliseconds))
                }
                bar.end()
            }
            let run = await engine.pull(table, reconcile: reconcile)
            group.cancelAll()
            return run
        }
        let error = run.pull.compactMap(\.error).first
        if run.state == .complete, error == nil { return }
        let reason = error ?? run.reason ?? "The pull ended with \(run.state.rawValue)."
        throw StartProblem(
            "\(table): \(reason) The copy can be started again.",
            run.state == .offline ? .offline : .error)
    }

    private mutating func move(_ table: TableName, _ kind: IDKind, _ store: Store) async throws {
        var last: String?
        var total: Int?
        repeat {
            guard
                let page = try await store.lists.serverRows(
                    of: table, after: last, limit: Limits.movedRows, total: total)
            else { return }
            total = page.total
            for batch in batches(page.items, table) {
                let outcomes = try await backend.move(
                    batch.rows, into: table, idKind: kind, from: .backend, isInUse: isInUse)
                for (row, outcome) in zip(batch.rows, outcomes) {
                    columns.add(row, of: table, kind, outcome)
                    if let otherOwner = owner?.otherOwner(in: row, of: table) {
                        report.add(otherOwner: otherOwner, of: table)
                    }
                    report.add(
                        outcome, row.id, of: table, at: "the other backend",
                        isAhead: backend.isAhead(row))
                }
            }
            bar.draw("moving \(table)", done: report.count(of: table), total: page.total)
            last = page.next
        } while last != nil
    }

    private func batches(_ rows: [ServerRow], _ table: TableName) -> [MoveBatch] {
        var batches: [MoveBatch] = []
        for row in rows {
            if batches.last?.isFull ?? true {
                batches.append(MoveBatch(rows: Limits.movedRows, bytes: Limits.movedBytes))
            }
            batches[batches.count - 1].add(moved(row, table), bytes: row.columns.text.utf8.count)
        }
        return batches
    }

    /// A row as it moves in.
    private func moved(_ row: ServerRow, _ table: TableName) -> MovedRow {
        let row = MovedRow(row)
        return owner?.added(to: row, of: table) ?? row
    }

    /// The rows that are compared: all, or those of the user who was named. Rows of other users are compared
    /// in their own copies.
    private func compared(_ rows: [MovedRow], _ table: TableName) -> [MovedRow] {
        guard let owner else { return rows }
        return rows.filter { owner.otherOwner(in: $0, of: table) == nil }
    }

    private func compare(_ table: TableName, _ store: Store) async throws -> RowComparison {
        var comparison = RowComparison(
            deletesForGood: try await backend.deletesForGood(table))
        var (there, here) = ("", "")
        var total: Int?
        while comparison.needsThere || comparison.needsHere {
            if comparison.needsThere {
                let page = try await store.lists.serverRows(
                    of: table, after: there, limit: Limits.movedRows, total: total)
                total = page?.total
                let rows = (page?.items ?? []).map { moved($0, table) }
                comparison.addThere(compared(rows, table), isLast: page?.next == nil)
                there = page?.next ?? there
            }
            if comparison.needsHere {
                let rows = try await backend.storedRows(
                    in: table, after: here, limit: Limits.movedRows)
                comparison.addHere(
                    compared(rows, table), isLast: rows.count < Limits.movedRows)
                here = rows.last?.id ?? here
            }
            comparison.advance()
        }
        return comparison
    }

    /// The report as JSON.
    func json(from address: String) -> JSONValue {
        .members(
            ("from", .string(address)),
            (
                "tables",
                .array(
                    tables.map { table in
                        .members(
                            ("table", .string(table.name.text)),
                            ("there", .number(table.comparison.there)),
                            ("here", .number(table.comparison.here)),
                            ("setAside", .number(table.setAside)),
                            (
                                "differences",
                                .array(table.comparison.differences.map(Self.difference))
                            ))
                    })
            ), ("moved", report.tablesJSON), ("otherOwners", report.otherOwnersJSON),
            ("withoutOwner", columns.withoutOwnerJSON), ("hiddenColumns", columns.hiddenJSON))
    }

    private static func difference(_ difference: RowDifference) -> JSONValue {
        .members(
            ("id", .string(difference.id)),
            ("kinds", .array(difference.kinds.map { .string($0.rawValue) })))
    }

    /// The report for a person.
    var lines: [String] {
        report.lines(dryRun: false)
            + report.otherOwnerLines(owner, advice: "copy again, and give that id with --owner-was")
            + columns.lines(advice: "Copy again")
            + tables.flatMap { table -> [String] in
                let comparison = table.comparison
                var lines = [
                    "\(table.name): \(comparison.there) rows there, \(comparison.here) here, "
                        + (table.differs
                            ? "\(comparison.differences.count) differ" : "all the same")
                ]
                if table.setAside > 0 {
                    lines.append(
                        "\(table.name): \(table.setAside) rows there cannot be taken, since no item "
                            + "can be like them")
                }
                lines += comparison.differences.prefix(Program.Limits.shownRows).map {
                    "\(table.name) \($0.id): \($0.kinds.map(Self.words).joined(separator: ", "))"
                }
                if comparison.differences.count > Program.Limits.shownRows {
                    lines.append("and more; --json lists all")
                }
                return lines
            }
    }

    private static func words(_ kind: DifferenceKind) -> String {
        switch kind {
        case .missing: "is not here"
        case .onlyHere: "is not there"
        case .columns, .version, .deleted, .createdAt, .updatedAt: "another \(kind.rawValue)"
        }
    }
}

extension MovedRow {
    /// A row as it was pulled.
    fileprivate init(_ row: ServerRow) {
        self.init(
            id: row.id, columns: row.columns,
            createdAt: row.createdAt.flatMap { Instant(parsing: $0) },
            updatedAt: row.updatedAt.flatMap { Instant(parsing: $0) }, version: row.version,
            deleted: row.deleted)
    }
}
