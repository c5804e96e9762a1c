import ArgumentParser
import Platform
import Program
import Proxy
import TablesProtocol

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring the changes of an export into this store as new operations.",
        discussion: """
            The open operations of the export become changes of this store, in their order, and go \
            to the backend with the next sync. With --rows the rows become inserts as well, which \
            is for a backend that does not have them yet; without it rows come with the next pull. \
            The history of the export stays in the file. What is here already is left alone, so it \
            can be repeated. JSON: {written, present, missing, refused, problems}; with --dry-run \
            {changes}.
            """)

    @Argument(
        help: "A file that `understudy export` wrote; - for standard input.", completion: .file())
    var file: String

    @Flag(help: "Insert the rows of the export too.")
    var rows = false

    @Flag(help: "Only say how much there is.")
    var dryRun = false

    @OptionGroup var options: ClientOptions

    func run() async throws {
        try await options.becomeOwner()
        let export = try ExportFile(
            reading: file == "-" ? InputFile.standardInput : file, rows: rows)
        if dryRun {
            let plan = JSONValue.members(("changes", .number(export.changes.count)))
            return options.show(plan) { _ in ["\(export.changes.count) changes would be made."] }
        }
        let result = try await options.withOperatorOrStore {
            try await Self.send(export.changes, $0)
        }
        options.show(result, TerminalText.imported)
        if result.refused > 0 { throw ExitStatus.error }
    }

    /// Sends changes in requests of bounded size.
    private static func send(
        _ changes: [JSONValue], _ client: OperatorClient
    ) async throws -> Answers.ImportResult {
        var result = Answers.ImportResult()
        var rest = changes[...]
        var bar = ProgressBar()
        defer { bar.end() }
        while !rest.isEmpty {
            let part = Array(rest.prefix(fitting(rest)))
            let done = changes.count - rest.count
            rest = rest.dropFirst(part.count)
            result.add(
                try await client.answer(ImportRoutes.take(body: [ImportRoutes.changes(part)])),
                from: done)
            bar.draw("changes", done: changes.count - rest.count, total: changes.count)
        }
        return result
    }

    /// How many changes fit in one request; at least one.
    private static func fitting(_ rest: ArraySlice<JSONValue>) -> Int {
        var bytes = 0
        let fitting = rest.prefix(Proxy.Limits.importedOperations).prefix { change in
            bytes += change.text.utf8.count
            return bytes <= Limits.importRequestBytes
        }
        return max(fitting.count, 1)
    }
}

/// The lines of an export by their type, compared with what its last line counts. A file may have several
/// exports, one after the other.
private struct CountedLines {
    /// The member of the last line that counts the lines of a type.
    private static let members = [
        "item": "items", "server": "server", "operation": "operations", "history": "history",
    ]
    private var counts: [String: Int64] = [:]
    /// Whether the last line of the last export was read.
    private(set) var isWhole = false
    /// Whether the first line of an export was read, and not yet its last.
    private var isOpen = false
    /// Whether the count in a last line is wrong, or another export begins before a last line.
    private(set) var lacksLines = false

    mutating func take(_ line: JSONValue) {
        let type = line["type"]?.string ?? ""
        switch type {
        case "export":
            if isOpen || !counts.isEmpty { lacksLines = true }
            isOpen = true
            isWhole = false
        case "end":
            for (type, member) in Self.members {
                if let said = line[member]?.integer, said != counts[type] ?? 0 { lacksLines = true }
            }
            counts = [:]
            isOpen = false
            isWhole = true
        default: counts[type, default: 0] += 1
        }
    }
}

/// The content of a file that `understudy export` wrote, as the changes of `POST /import`.
struct ExportFile: Sendable {
    /// The rows as inserts, if requested, then the open operations in their order.
    private(set) var changes: [JSONValue] = []

    /// Reads the file.
    /// - Parameter rows: whether rows become inserts.
    /// - Throws: ``StartProblem`` if the file is invalid or incomplete.
    init(reading file: String, rows: Bool) throws(StartProblem) {
        var operations: [JSONValue] = []
        var lines = CountedLines()
        try Self.eachLine(of: file) { line throws(StartProblem) in
            guard
                let value = try? JSONValue(
                    parsing: line.bytes, maxDepth: TablesProtocol.Limits.envelopeDepth)
            else {
                throw StartProblem(
                    "\(file):\(line.number) is no JSON; nothing was imported.", .error)
            }
            lines.take(value)
            switch value["type"]?.string {
            case "item" where rows: changes.append(Self.insert(value))
            case "operation": operations.append(Self.change(value))
            default: break
            }
        }
        guard lines.isWhole else {
            throw StartProblem(
                "\(file) is no whole export: its last line is missing. Nothing was imported.",
                .error)
        }
        if lines.lacksLines {
            throw StartProblem(
                "\(file) is no whole export: lines that it counts are missing. Write it again with "
                    + "`understudy export`. Nothing was imported.", .error)
        }
        changes += operations
    }

    /// Reads a file line by line, within the limits.
    private static func eachLine(
        of path: String, _ body: (BoundedLines.Line) throws(StartProblem) -> Void
    ) throws(StartProblem) {
        var lines = BoundedLines(
            lineBytes: Program.Limits.importedLineBytes, totalBytes: Limits.importedFileBytes)
        do {
            guard let file = try InputFile(path, streams: true) else {
                throw StartProblem("There is no file \(path).", .error)
            }
            while let piece = try file.next() {
                for line in try lines.take(piece) { try body(line) }
            }
            if let line = lines.end() { try body(line) }
        } catch let excess as BoundedLines.Excess {
            throw StartProblem(sentence(excess, path), .error)
        } catch let problem as StartProblem {
            throw problem
        } catch {
            throw StartProblem("\(error)", .error)
        }
    }

    /// The sentence for a limit that was exceeded.
    private static func sentence(_ excess: BoundedLines.Excess, _ path: String) -> String {
        switch excess {
        case .line(let number):
            "\(path):\(number) has more than \(Program.Limits.importedLineBytes >> 20) MiB in one line, so it "
                + "is no export of Understudy. Nothing was imported."
        case .total:
            "\(path) has more than \(Limits.importedFileBytes >> 20) MiB, which is more than an import "
                + "takes. Move so much with backup and restore. Nothing was imported."
        }
    }

    private static func insert(_ line: JSONValue) -> JSONValue {
        .members(
            ("table", line["table"] ?? .null), ("itemId", line["item"]?["id"] ?? .null),
            ("kind", .string("insert")), ("columns", .object(columns(line))))
    }

    /// The user's columns of an item line: those of the item without the system's, and those beside it.
    private static func columns(_ line: JSONValue) -> [JSONValue.Member] {
        var columns: [JSONValue.Member] = []
        if case .object(let members) = line["item"] {
            let system = ["id", "createdAt", "updatedAt", "version", "deleted"]
            columns += members.filter { !system.contains($0.name) }
        }
        if case .object(let own) = line["ownColumns"] { columns += own }
        return columns
    }

    private static func change(_ line: JSONValue) -> JSONValue {
        let summary = line["summary"]
        let mine = line["mine"].flatMap { $0 == .null ? nil : $0 }
        let isInsert = summary?["kind"]?.string == "insert"
        return .members(
            ("table", summary?["table"] ?? .null), ("itemId", summary?["itemId"] ?? .null),
            ("kind", summary?["kind"] ?? .null),
            ("columns", (isInsert ? mine : nil) ?? line["payload"] ?? .null))
    }
}
