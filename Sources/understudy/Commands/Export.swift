import ArgumentParser
import HTTPMessage
import Platform
import Program
import Proxy
import SyncCore
import TablesProtocol

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write rows, queue and history as JSON lines.",
        discussion: """
            One object on each line, told apart by "type": export (the first, with version, \
            identity and time), item (table, item, ownColumns, state), server (the backend's row \
            as it is known here, without what clients have changed: table, idKind, id, createdAt, \
            updatedAt, version, deleted, columns), operation (summary, payload, base, \
            mine, server, headers, attempts), history, end (the last, with the counts: a file without it is \
            not whole). One store is exported: that of clients that do not sign in, or the one of \
            --identity. Others with open operations are named on standard error. Works while an \
            Understudy runs and while none does. Passwords and tokens are not in it; the contents of \
            rows are.
            """)

    enum Part: String, ExpressibleByArgument, CaseIterable {
        case rows, server, queue, history
    }

    @Option(help: "A new file to write to; - is standard output. (default: standard output)")
    var output: String?

    @Option(
        parsing: .upToNextOption,
        help: "rows, server, queue, history, or some of them; all unless given.")
    var only: [Part] = []

    @OptionGroup var options: ClientOptions

    func run() async throws {
        try await options.becomeOwner()
        let output = output == "-" ? nil : output
        let file = try output.map { path throws(StartProblem) in
            do {
                return try OutputFile(path)
            } catch {
                throw StartProblem("\(error)", .error)
            }
        }
        let parts = only.isEmpty ? Part.allCases : only
        let identity = options.identity ?? Identity.anonymousKey
        let (counts, hint) = try await options.withOperatorOrStore { client in
            // An unknown identity is an error before the first line.
            _ = try await client.answer(StatusRoutes.status())
            var exporter = Exporter(
                client: client, file: file, parts: parts, isQuiet: options.quiet)
            let counts = try await exporter.run(identity)
            return (counts, await Self.otherQueues(client, options, parts))
        }
        do {
            try file?.finish()
        } catch {
            throw StartProblem("\(error)", .error)
        }
        if let output {
            options.tell(
                "\(output): \(counts.items) items, \(counts.operations) operations, "
                    + "\(counts.history) entries of history.")
        }
        if let hint { options.tell(hint) }
    }

    /// The line that names the stores which an export without an identity leaves out, though they have open
    /// operations or are not known; nil without such stores. If the stores cannot be asked for, the line says
    /// so, and the export goes on.
    private static func otherQueues(
        _ client: OperatorClient, _ options: ClientOptions, _ parts: [Part]
    ) async -> String? {
        guard options.identity == nil, parts.contains(.queue) else { return nil }
        let stores: Page<Answers.KnownIdentity>
        do {
            stores = try await client.forAll.answer(StatusRoutes.identities())
        } catch {
            return "Which users who signed in have open operations is not known: \(error.sentence) "
                + "See them with: understudy identities"
        }
        let others = otherQueues(in: stores)
        if others.isEmpty { return nil }
        return
            "Not in this export are the open operations of users who signed in. Export each of their "
            + "stores with --identity: \(others.joined(separator: ", "))"
    }

    /// The stores of users with open operations, or of unknown content.
    /// - Parameter identities: the answer to `GET /identities`, which has all stores in one page.
    static func otherQueues(in identities: Page<Answers.KnownIdentity>) -> [String] {
        identities.items.filter {
            $0.identity != Identity.anonymousKey && $0.openOperations != 0
        }.map(\.identity)
    }
}

/// Writes one export.
struct Exporter {
    let client: OperatorClient
    /// Nil for standard output.
    let file: OutputFile?
    let parts: [Export.Part]
    private(set) var counts = Counts()
    private var bar = ProgressBar()

    /// The numbers of written lines.
    struct Counts: Sendable {
        var items = 0
        var serverRows = 0
        var operations = 0
        var history = 0
    }

    init(client: OperatorClient, file: OutputFile?, parts: [Export.Part], isQuiet: Bool) {
        self.client = client
        self.file = file
        self.parts = parts
        // On standard output a progress bar would be mixed with the lines.
        bar = ProgressBar(isShown: file != nil && ThisProcess.isInteractive && !isQuiet)
    }

    mutating func run(_ identity: String) async throws -> Counts {
        defer { bar.end() }
        try write([
            ("type", .string("export")), ("version", .number(1)),
            ("identity", .string(identity)), ("at", .string(ThisProcess.now.text)),
        ])
        if parts.contains(.rows) { try await rows() }
        if parts.contains(.server) { try await serverRows() }
        if parts.contains(.queue) { try await queue() }
        if parts.contains(.history) { try await history() }
        try write([
            ("type", .string("end")), ("items", .number(counts.items)),
            ("server", .number(counts.serverRows)),
            ("operations", .number(counts.operations)), ("history", .number(counts.history)),
        ])
        return counts
    }

    /// Writes the rows of each table in the order of their ids.
    private mutating func rows() async throws {
        for table in try await tables() {
            let name = table.name
            let request = RowRoutes.list(name, query: [RowRoutes.orderby("id")])
            try await client.elements(of: request) { row throws(StartProblem) in
                try write([
                    ("type", .string("item")), ("table", .string(name)),
                    ("item", row["item"] ?? .null), ("ownColumns", row["ownColumns"] ?? .null),
                    ("state", row["state"] ?? .null),
                ])
                counts.items += 1
                bar.draw("rows of \(name)", done: counts.items, total: nil)
            }
        }
    }

    /// Writes the backend's rows of each table, without the changes that wait here.
    private mutating func serverRows() async throws {
        for table in try await tables() {
            var last: String?
            repeat {
                let page = try await client.answer(
                    TableRoutes.serverRows(
                        table.name,
                        query: [Fields.limit(Proxy.Limits.pageElementsMax), Fields.after(last)]),
                    as: Page<JSONValue>.self)
                for row in page.items {
                    try write(
                        [
                            ("type", .string("server")), ("table", .string(table.name)),
                            ("idKind", .string(table.idKind.rawValue)),
                        ], and: row)
                    counts.serverRows += 1
                }
                bar.draw(
                    "the backend's rows of \(table.name)", done: counts.serverRows, total: nil)
                last = page.next
            } while last != nil
        }
    }

    private func tables() async throws -> [Answers.TableStatus] {
        try await client.answer(TableRoutes.list()).items
    }

    private mutating func queue() async throws {
        var ids: [String] = []
        try await client.elements(of: QueueRoutes.list()) { operation in
            if let id = operation["id"]?.string { ids.append(id) }
        }
        for id in ids {
            try write(
                [("type", .string("operation"))],
                and: try await client.answer(QueueRoutes.show(id), as: JSONValue.self))
            counts.operations += 1
            bar.draw("operations", done: counts.operations, total: ids.count)
        }
    }

    private mutating func history() async throws {
        try await client.elements(of: HistoryRoutes.list()) { entry throws(StartProblem) in
            try write([("type", .string("history"))], and: entry)
            counts.history += 1
        }
    }

    /// Writes a line with these members and those of an answer.
    private func write(
        _ members: [(String, JSONValue)], and answer: JSONValue? = nil
    ) throws(StartProblem) {
        var all = members.map { JSONValue.Member($0.0, $0.1) }
        if case .object(let more)? = answer { all += more }
        let line = JSONValue.object(all).text
        guard let file else { return ThisProcess.print(json: line) }
        do {
            try file.print(line)
        } catch {
            throw StartProblem("\(error)", .error)
        }
    }
}
