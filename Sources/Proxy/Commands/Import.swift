import ArgumentParser
import TablesProtocol

/// `understudy import FILE`.
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make the changes of an export again, as new operations.",
        discussion: """
            The open operations of the export become changes of this store, in their order, and go \
            to the backend with the next sync. With --rows the rows become inserts as well, which \
            is for a backend that does not have them yet. What is here already is left alone, so it \
            can be repeated. History is not brought in: it tells of the other store. \
            JSON: {written, present, missing, refused, problems}.
            """)

    @Argument(help: "A file that `understudy export` wrote.")
    var file: String

    @Flag(help: "Insert the rows of the export too.")
    var rows = false

    @Flag(help: "Only say how many changes there are.")
    var dryRun = false

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let changes = try changes()
        if dryRun {
            let plan = JSONValue.members(("changes", .number(changes.count)))
            return options.show(plan) { _ in ["\(changes.count) changes would be made."] }
        }
        let result = try await options.withOperatorOrStore { client in
            try await Self.send(changes, client)
        }
        options.show(result, Words.imported)
        if result["refused"]?.integer ?? 0 > 0 { throw ExitStatus.error }
    }

    /// Reads the file to its end; one that breaks off changes nothing.
    private func changes() throws(StartProblem) -> [JSONValue] {
        let bytes: [UInt8]?
        do {
            bytes = try Files.read(file)
        } catch {
            throw StartProblem("\(error)", .error)
        }
        guard let bytes else { throw StartProblem("There is no file \(file).", .error) }
        var items: [JSONValue] = []
        var operations: [JSONValue] = []
        var isWhole = false
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            guard let value = try? JSONValue(parsing: Array(line)) else {
                throw StartProblem("\(file):\(index + 1) is no JSON; nothing was imported.", .error)
            }
            switch value["type"]?.string {
            case "item" where rows: items.append(Self.insert(value))
            case "operation": operations.append(Self.change(value))
            case "end": isWhole = true
            default: break
            }
        }
        guard isWhole else {
            throw StartProblem(
                "\(file) is no whole export: its last line is missing. Nothing was imported.",
                .error)
        }
        return items + operations
    }

    private static func insert(_ line: JSONValue) -> JSONValue {
        .members(
            ("table", line["table"] ?? .null), ("itemId", line["item"]?["id"] ?? .null),
            ("kind", .string("insert")), ("columns", line["item"] ?? .null))
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

    private static func send(
        _ changes: [JSONValue], _ client: OperatorClient
    ) async throws -> JSONValue {
        let names = ["written", "present", "missing", "refused"]
        var counts: [String: Int64] = [:]
        var problems: [JSONValue] = []
        var rest = changes[...]
        var bar = ProgressBar()
        defer { bar.end() }
        while !rest.isEmpty {
            let batch = Array(rest.prefix(Limits.importedOperations))
            rest = rest.dropFirst(batch.count)
            let result = try await client.post("/import", [], .members(("changes", .array(batch))))
            for name in names { counts[name, default: 0] += result[name]?.integer ?? 0 }
            problems += result["problems"]?.array ?? []
            bar.draw("changes", done: changes.count - rest.count, total: changes.count)
        }
        return .object(
            names.map { .init($0, .number(counts[$0] ?? 0)) }
                + [.init("problems", .array(problems))])
    }
}
