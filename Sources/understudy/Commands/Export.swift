import ArgumentParser
import HTTPMessage
import Program
import Proxy
import TablesProtocol

/// `understudy export`.
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

    /// A part of an export.
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
            _ = try await client.get("/status")
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
        let stores: JSONValue
        do {
            stores = try await client.forAll.get("/identities")
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
    static func otherQueues(in identities: JSONValue) -> [String] {
        (identities["items"]?.array ?? []).compactMap { store in
            guard let key = store["identity"]?.string, key != Identity.anonymousKey,
                store["openOperations"]?.integer != 0
            else { return nil }
            return key
        }
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

    /// Makes an exporter.
    init(client: OperatorClient, file: OutputFile?, parts: [Export.Part], isQuiet: Bool) {
        self.client = client
        self.file = file
        self.parts = parts
        // On standard output a progress bar would be mixed with the lines.
        bar = ProgressBar(isShown: file != nil && ThisProcess.isInteractive && !isQuiet)
    }

    /// Writes all lines.
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

    /// Writes the rows of each table in the order of their ids. Each page begins after the last id, so that
    /// rows which are added or deleted meanwhile move no other row.
    private mutating func rows() async throws {
        for table in try await client.get("/tables")["items"]?.array ?? [] {
            guard let name = table["name"]?.string else { continue }
            var query: [(String, String?)] = [
                ("top", String(Proxy.Limits.pageRowsMax)), ("orderby", "id"),
            ]
            var last: String?
            repeat {
                let page = try await client.get(
                    "/tables/\(PercentCoding.encode(name))/items",
                    query + [("filter", last.map { "id gt \(Self.literal($0, of: table))" })])
                let rows = page["items"]?.array ?? []
                for row in rows {
                    try write([
                        ("type", .string("item")), ("table", .string(name)),
                        ("item", row["item"] ?? .null),
                        ("ownColumns", row["ownColumns"] ?? .null),
                        ("state", row["state"] ?? .null),
                    ])
                    counts.items += 1
                }
                bar.draw("rows of \(name)", done: counts.items, total: nil)
                last = page["next"] == .null ? nil : rows.last?["item"]?["id"]?.string
                query = query.filter { $0.0 != "filter" }
            } while last != nil
        }
    }

    /// Writes the backend's rows of each table, without the changes that wait here.
    private mutating func serverRows() async throws {
        for table in try await client.get("/tables")["items"]?.array ?? [] {
            guard let name = table["name"]?.string else { continue }
            var last: String?
            repeat {
                let page = try await client.get(
                    "/tables/\(PercentCoding.encode(name))/server-rows",
                    [("limit", String(Proxy.Limits.pageElementsMax)), ("after", last)])
                for row in page["items"]?.array ?? [] {
                    guard case .object(let members) = row else { continue }
                    try write(
                        [
                            ("type", .string("server")), ("table", .string(name)),
                            ("idKind", table["idKind"] ?? .null),
                        ] + members.map { ($0.name, $0.value) })
                    counts.serverRows += 1
                }
                bar.draw("the backend's rows of \(name)", done: counts.serverRows, total: nil)
                last = page["next"]?.string
            } while last != nil
        }
    }

    /// An id in a filter. Quotes are doubled byte by byte: one with a combining mark is another character.
    static func literal(_ id: String, of table: JSONValue) -> String {
        if table["idKind"]?.string == IDKind.integer.rawValue { return id }
        let quote = UInt8(ascii: "'")
        var bytes = [quote]
        for byte in id.utf8 {
            bytes.append(byte)
            if byte == quote { bytes.append(quote) }
        }
        bytes.append(quote)
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func queue() async throws {
        var ids: [String] = []
        try await client.all("/operations") { operation in
            if let id = operation["id"]?.string { ids.append(id) }
        }
        for id in ids {
            let detail = try await client.get("/operations/\(PercentCoding.encode(id))")
            guard case .object(let members) = detail else { continue }
            try write([("type", .string("operation"))] + members.map { ($0.name, $0.value) })
            counts.operations += 1
            bar.draw("operations", done: counts.operations, total: ids.count)
        }
    }

    private mutating func history() async throws {
        var lines: [[(String, JSONValue)]] = []
        try await client.all("/history") { entry in
            guard case .object(let members) = entry else { return }
            lines.append([("type", .string("history"))] + members.map { ($0.name, $0.value) })
        }
        for line in lines { try write(line) }
        counts.history = lines.count
    }

    private func write(_ members: [(String, JSONValue)]) throws {
        let line = JSONValue.object(members.map { .init($0.0, $0.1) }).text
        guard let file else { return ThisProcess.print(json: line) }
        do {
            try file.print(line)
        } catch {
            throw StartProblem("\(error)", .error)
        }
    }
}
