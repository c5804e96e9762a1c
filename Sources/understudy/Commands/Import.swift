import ArgumentParser
import Proxy
import TablesProtocol

/// `understudy import FILE`.
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring an export into this store: its changes as new operations, its history.",
        discussion: """
            The open operations of the export become changes of this store, in their order, and go \
            to the backend with the next sync. With --rows the rows become inserts as well, which \
            is for a backend that does not have them yet; without it rows come with the next pull. \
            Entries of history come with their times, marked as imported, and cannot be undone \
            here. What is here already is left alone, so it can be repeated. JSON: {written, \
            present, missing, historyAdded, historyPresent, refused, problems}; with --dry-run \
            {changes, history}.
            """)

    @Argument(help: "A file that `understudy export` wrote.")
    var file: String

    @Flag(help: "Insert the rows of the export too.")
    var rows = false

    @Flag(help: "Only say how much there is.")
    var dryRun = false

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let export = try ExportFile(reading: file, rows: rows)
        if dryRun {
            let plan = JSONValue.members(
                ("changes", .number(export.changes.count)),
                ("history", .number(export.history.count)))
            return options.show(plan) { _ in
                [
                    "\(export.changes.count) changes would be made, "
                        + "\(export.history.count) entries of history brought in."
                ]
            }
        }
        let result = try await options.withOperatorOrStore { client in
            var importer = Importer(client: client)
            // History first, so that what the changes leave there stands before it.
            try await importer.send("history", export.history)
            try await importer.send("changes", export.changes)
            return importer.result
        }
        options.show(result, TerminalText.imported)
        if result["refused"]?.integer ?? 0 > 0 { throw ExitStatus.error }
    }
}

/// Sends the parts of an export, in requests of bounded size.
private struct Importer {
    let client: OperatorClient
    private static let names = [
        "written", "present", "missing", "historyAdded", "historyPresent", "refused",
    ]
    private var counts: [String: Int64] = [:]
    private var problems: [JSONValue] = []

    init(client: OperatorClient) { self.client = client }

    /// Sends one list of the request.
    mutating func send(_ name: String, _ elements: [JSONValue]) async throws {
        var rest = elements[...]
        var bar = ProgressBar()
        defer { bar.end() }
        while !rest.isEmpty {
            let batch = Array(rest.prefix(Self.batch(rest)))
            let done = elements.count - rest.count
            rest = rest.dropFirst(batch.count)
            let result = try await client.post("/import", [], .members((name, .array(batch))))
            for name in Self.names { counts[name, default: 0] += result[name]?.integer ?? 0 }
            problems += (result["problems"]?.array ?? []).map { Self.moved($0, by: done) }
            bar.draw(name, done: elements.count - rest.count, total: elements.count)
        }
    }

    /// What became of everything that was sent.
    var result: JSONValue {
        .object(
            Self.names.map { .init($0, .number(counts[$0] ?? 0)) }
                + [.init("problems", .array(problems))])
    }

    /// How many elements fit into one request: at least one.
    private static func batch(_ rest: ArraySlice<JSONValue>) -> Int {
        var bytes = 0
        let fitting = rest.prefix(Proxy.Limits.importedOperations).prefix { element in
            bytes += element.text.utf8.count
            return bytes <= Limits.importedBytes
        }
        return max(fitting.count, 1)
    }

    /// A problem with its place in the whole list.
    private static func moved(_ problem: JSONValue, by count: Int) -> JSONValue {
        .members(
            ("list", problem["list"] ?? .null),
            ("index", .number((problem["index"]?.integer ?? 0) + Int64(count))),
            ("detail", problem["detail"] ?? .null))
    }
}
