import ArgumentParser
import Backend
import Platform
import Program
import Site
import TablesProtocol

/// Moves the rows of exports into a backend.
struct Importer {
    /// A file that was read.
    private struct Source {
        let file: String
        var identity: String?
        var rows = 0
        var items = 0
        var operations = 0
        /// Whether the last line of the export was read.
        private(set) var isWhole = false
        /// Whether the last line counts other lines than there are, or is missing before another export.
        private(set) var lacksLines = false
        /// The rows and operations of the exports before the one that is being read; nil outside of one.
        private var earlier: (rows: Int, operations: Int)?

        init(file: String) { self.file = file }

        mutating func begin(_ identity: String?) {
            if earlier != nil { lacksLines = true }
            earlier = (rows, operations)
            isWhole = false
            self.identity = identity
        }

        mutating func end(rows: Int?, operations: Int?) {
            let own = (
                rows: self.rows - (earlier?.rows ?? 0),
                operations: self.operations - (earlier?.operations ?? 0)
            )
            if own.rows != rows ?? own.rows || own.operations != operations ?? own.operations {
                lacksLines = true
            }
            earlier = nil
            isWhole = true
        }
    }

    /// Rows that wait for their transaction.
    private struct Batch {
        let table: TableName
        let idKind: IDKind
        var content = MoveBatch(rows: Limits.movedRows, bytes: Limits.movedBytes)
        var numbers: [Int] = []
    }

    private let backend: TablesBackend
    private let isInUse: Bool
    private let source: MoveSource
    private let isRehearsal: Bool
    private let owner: MovedOwner?
    /// The tables of which there were rows, by their keys.
    private var tables: [String: String] = [:]
    private(set) var report = MovingReport()
    private(set) var columns: MovedColumns
    private var sources: [Source] = []
    private var operations: [JSONValue] = []
    private var rehearsal = MoveRehearsal()
    private var bar = ProgressBar()

    /// - Parameters:
    ///   - restoredTo: the moment of the backup from which this database was restored; nil where the files
    ///     are of another backend.
    ///   - owner: whose rows are in the files; nil for all.
    ///   - columns: what the backend's settings say about columns.
    init(
        backend: TablesBackend, isInUse: Bool, restoredTo: Instant?, isRehearsal: Bool,
        owner: MovedOwner?, columns: MovedColumns
    ) {
        source = restoredTo.map { .exportOfRestored(to: $0) } ?? .export
        self.owner = owner
        self.columns = columns
        self.backend = backend
        self.isInUse = isInUse || restoredTo != nil
        self.isRehearsal = isRehearsal
    }

    /// Checks before anything is moved that the owned tables are not misspelled. Files that can be read only
    /// once are left to ``checkOwnedTables()``.
    mutating func look(into files: [String]) async throws(StartProblem) {
        guard owner != nil, files.allSatisfy({ $0 != "-" && Files.isRegular($0) }) else { return }
        for name in files {
            var lines = try ExportLines(name)
            while let line = try lines.next() {
                // A damaged line is named when its row is to move.
                if case .row(let table, _, _)? = try? ExportedLine(line.bytes) {
                    tables[table.key] = table.text
                }
            }
        }
        try await checkOwnedTables()
    }

    /// Checks that each owned table is one of the files, or of this backend.
    func checkOwnedTables() async throws(StartProblem) {
        for table in owner?.tables ?? [] where tables[table.key] == nil {
            let isHere: Bool
            do {
                isHere = try await backend.has(table)
            } catch {
                throw StartProblem("\(error)", .error)
            }
            if isHere { continue }
            let names = tables.values.sorted().joined(separator: ", ")
            let moved =
                sources.isEmpty || isRehearsal
                ? "" : " The rows were moved as the report says, without this owner."
            throw StartProblem(
                "--owned-table names \(table), and there is no such table, neither here nor in the files. "
                    + "They have rows of: \(names.isEmpty ? "none" : names).\(moved)", .error)
        }
    }

    /// Moves the rows of one file.
    /// - Throws: ``StartProblem`` with file and line. What moved before stays.
    mutating func take(_ name: String) async throws(StartProblem) {
        defer { bar.end() }
        var source = Source(file: name)
        var batch: Batch?
        var lines = try ExportLines(name)
        while let line = try lines.next() {
            let content: ExportedLine
            do {
                content = try ExportedLine(line.bytes)
            } catch {
                throw problem("\(name):\(line.number) \(error.words)")
            }
            switch content {
            case .row(let table, let kind, let row):
                if let full = batch,
                    full.table != table || full.idKind != kind || full.content.isFull
                {
                    try await move(full, name)
                    batch = nil
                }
                if batch == nil { batch = Batch(table: table, idKind: kind) }
                let moved = owner?.added(to: row, of: table) ?? row
                if let otherOwner = owner?.otherOwner(in: moved, of: table) {
                    report.add(otherOwner: otherOwner, of: table)
                }
                tables[table.key] = table.text
                batch?.content.add(moved, bytes: line.bytes.count)
                batch?.numbers.append(line.number)
                source.rows += 1
                bar.draw(name, done: source.rows, total: nil)
            case .operation(let operation):
                source.operations += 1
                operations.append(Self.listed(operation, name))
            case .item: source.items += 1
            case .begin(let identity): source.begin(identity)
            case .end(let rows, let operations): source.end(rows: rows, operations: operations)
            case .other: break
            }
        }
        if let batch { try await move(batch, name) }
        if !source.isWhole {
            throw problem("\(name) is no whole export: its last line is missing.")
        }
        if source.rows == 0, source.items > 0 {
            throw problem(
                "\(name) has no rows of the old backend, only what clients saw. Write it again with "
                    + "`understudy export`, and without --only or with --only server queue.")
        }
        if source.lacksLines {
            throw problem("\(name) is no whole export: lines that it counts are missing.")
        }
        sources.append(source)
    }

    private mutating func move(_ batch: Batch, _ file: String) async throws(StartProblem) {
        let rows = batch.content.rows
        let outcomes: [MoveOutcome]
        do {
            if isRehearsal {
                outcomes = try await backend.rehearse(
                    rows, into: batch.table, idKind: batch.idKind, from: source, &rehearsal)
            } else {
                outcomes = try await backend.move(
                    rows, into: batch.table, idKind: batch.idKind, from: source,
                    isInUse: isInUse)
            }
        } catch {
            throw problem("\(file):\(batch.numbers.first ?? 0): \(error)")
        }
        for (index, outcome) in outcomes.enumerated() {
            columns.add(rows[index], of: batch.table, batch.idKind, outcome)
            report.add(
                outcome, rows[index].id, of: batch.table,
                at: "\(file):\(batch.numbers[index])", isAhead: backend.isAhead(rows[index]))
        }
    }

    /// - Parameter words: a sentence, with its full stop or without.
    private func problem(_ words: String) -> StartProblem {
        let sentence = words.hasSuffix(".") ? words : "\(words)."
        return StartProblem(
            isRehearsal
                ? sentence
                : "\(sentence) What was read before is moved; the import can be run again.", .error)
    }

    private static func listed(_ operation: JSONValue, _ file: String) -> JSONValue {
        let summary = operation["summary"]
        return .object(
            [.init("file", .string(file))]
                + ["id", "table", "itemId", "kind", "state"].map {
                    .init($0, summary?[$0] ?? .null)
                })
    }

    /// The report as JSON.
    var json: JSONValue {
        .members(
            ("dryRun", .bool(isRehearsal)),
            (
                "files",
                .array(
                    sources.map {
                        .members(
                            ("file", .string($0.file)), ("identity", .text($0.identity)),
                            ("rows", .number($0.rows)), ("operations", .number($0.operations)))
                    })
            ), ("tables", report.tablesJSON), ("rows", report.rowsJSON),
            ("otherOwners", report.otherOwnersJSON), ("withoutOwner", columns.withoutOwnerJSON),
            ("hiddenColumns", columns.hiddenJSON),
            ("operations", .array(operations)))
    }

    /// The report for a person.
    var lines: [String] {
        var lines =
            report.lines(dryRun: isRehearsal)
            + report.otherOwnerLines(
                owner, advice: "begin with an empty database, and give that id with --owner-was")
            + columns.lines(
                advice: "Where no client uses this database yet, begin with an empty one")
        if operations.isEmpty { return lines }
        lines.append(
            "\(operations.count) open operations stay in their queues, which `understudy serve "
                + "--rebind` sends here:")
        lines += operations.map { operation in
            let words = ["kind", "table", "itemId", "state"].map { operation[$0]?.string ?? "?" }
            return "\(operation["file"]?.string ?? ""): "
                + "\(words[0]) \(words[1]) \(words[2]) (\(words[3]), \(operation["id"]?.string ?? "?"))"
        }
        return lines
    }
}

/// The lines of a file, one after another.
private struct ExportLines {
    private let name: String
    private let file: InputFile
    private var lines = BoundedLines(lineBytes: Program.Limits.importedLineBytes, totalBytes: .max)
    private var waiting: ArraySlice<BoundedLines.Line> = []
    private var isAtEnd = false

    init(_ name: String) throws(StartProblem) {
        self.name = name
        do {
            let path = name == "-" ? InputFile.standardInput : name
            guard let file = try InputFile(path, streams: true) else {
                throw StartProblem("There is no file \(name).", .error)
            }
            self.file = file
        } catch let problem as StartProblem {
            throw problem
        } catch {
            throw StartProblem("\(error)", .error)
        }
    }

    mutating func next() throws(StartProblem) -> BoundedLines.Line? {
        while waiting.isEmpty, !isAtEnd {
            do {
                if let piece = try file.next() {
                    waiting = try lines.take(piece)[...]
                } else {
                    isAtEnd = true
                    waiting = [lines.end()].compactMap(\.self)[...]
                }
            } catch BoundedLines.Excess.line(let number) {
                throw StartProblem(
                    "\(name):\(number) has more than \(Program.Limits.importedLineBytes >> 20) MiB in one "
                        + "line, so it is no export of Understudy.", .error)
            } catch {
                throw StartProblem("\(error)", .error)
            }
        }
        return waiting.popFirst()
    }
}

/// `understudy-site import FILE…`.
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Move rows into a backend, from exports of one or many Understudy stores.",
        discussion: """
            For a backend that does not answer any more. Each file is one that `understudy export` \
            wrote. Of each row the newest version moves in, by the old backend's own stamp, with its \
            id, version, times and deletion; what clients have changed since is not part of it. \
            Open operations are listed. They stay in the queue of their Understudy, which sends them \
            when it is started with `--rebind` and this backend. Rows that clients have changed or \
            deleted here stay as they are. The import can be repeated, and goes on after it was \
            stopped. It ends with 4 where two rows differ and no stamp says which is newer, where a row \
            was changed both before a restore and after it, and where a row of --owned-table has another owner than --owner, or a row none in a table in which the \
            settings give each user rows of their own. \
            JSON: {dryRun, files: [{file, identity, rows, operations}], tables: [{table, added, \
            replaced, same, older, changedHere, deletedHere, undecided}], rows: [{place, table, id, \
            outcome}], otherOwners: [{table, rows, example}], withoutOwner: [{table, rows, column}], \
            hiddenColumns: [{table, rows, columns}], operations: [{file, id, table, itemId, \
            kind, state}]}.
            """)

    @Argument(
        help: "Files that `understudy export` wrote; - for standard input.", completion: .file())
    var files: [String]

    @OptionGroup var place: BackendPlaceOptions

    @OptionGroup var whose: MovedOwnerOptions

    @Option(
        help: ArgumentHelp(
            """
            This database was restored from a backup of this moment, and the files have what came after \
            it. Implies --in-use. A row that was changed on both sides stays, and is named.
            """, valueName: "time"),
        transform: { text in
            guard let moment = Instant(parsing: text) else {
                throw ValidationError("'\(text)' is no time such as 2026-11-28T09:00:00Z.")
            }
            return moment
        })
    var restoredTo: Instant?

    @Flag(help: "Only say what would be done.")
    var dryRun = false

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws { _ = try whose.read() }

    func run() async throws {
        let sources = try place.sources()
        let columns = try MovedColumns(sources)
        let opened = try OpenedBackend(sources, isRehearsal: dryRun)
        defer { opened.close() }
        var importer = Importer(
            backend: opened.backend, isInUse: place.inUse, restoredTo: restoredTo,
            isRehearsal: dryRun, owner: try whose.read(), columns: columns)
        try await importer.look(into: files)
        for file in files { try await importer.take(file) }
        if json {
            ThisProcess.print(json: importer.json.text)
        } else {
            for line in importer.lines { ThisProcess.print(line) }
        }
        // After the report: rows of files that can be read only once have moved by now.
        try await importer.checkOwnedTables()
        let isChangedTwice = restoredTo != nil && importer.report.count(.changedHere) > 0
        if importer.report.count(.undecided) > 0 || isChangedTwice
            || importer.report.hasOtherOwners || importer.columns.hasRowsWithoutOwner
        {
            throw ExitStatus.conflicts
        }
    }
}
