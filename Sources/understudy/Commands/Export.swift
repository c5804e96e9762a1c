import ArgumentParser
import Backend
import HTTPMessage
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

/// One line of an export, as far as a backend needs it.
enum ExportedLine {
    /// A row of the old backend, without what clients have changed since.
    case row(TableName, IDKind, MovedRow)
    /// An open operation. It stays in the queue of its Understudy.
    case operation(JSONValue)
    /// A row as clients see it, with their changes.
    case item
    /// The first line: whose export it is.
    case begin(identity: String?)
    /// The last line: how many lines of a type the export has; nil where it does not say so.
    case end(rows: Int?, operations: Int?)
    case other

    /// What is wrong with a line, as the end of a sentence.
    struct Fault: Error {
        let words: String
    }

    /// Reads a line. The columns stay the text that they are.
    init(_ bytes: [UInt8]) throws(Fault) {
        let members: Columns
        do {
            members = try Columns(parsing: bytes, maxDepth: TablesProtocol.Limits.envelopeDepth)
        } catch {
            throw Fault(words: "is no JSON object: \(error.description)")
        }
        switch members["type"]?.string {
        case "export": self = .begin(identity: members["identity"]?.string)
        case "server": self = try Self.row(members)
        case "operation":
            self = .operation(.object(members.all.map { .init($0.name, $0.value.value) }))
        case "item": self = .item
        case "end":
            self = .end(
                rows: Self.count(members, "server"), operations: Self.count(members, "operations"))
        case _?: self = .other
        case nil: throw Fault(words: "has no type")
        }
    }

    private static func row(_ members: Columns) throws(Fault) -> ExportedLine {
        guard let table = members["table"]?.string.flatMap({ TableName($0) }) else {
            throw Fault(words: "names no table")
        }
        guard let kind = members["idKind"]?.string.flatMap(IDKind.init(rawValue:)) else {
            throw Fault(words: "does not say what kind of ids its table has")
        }
        guard let id = members["id"]?.string, isID(id, kind) else {
            throw Fault(words: "has no id that an item can have")
        }
        let columns: Columns
        do {
            columns = try Columns(parsing: members["columns"]?.text ?? "")
        } catch {
            throw Fault(words: "has no columns")
        }
        guard let deleted = members["deleted"]?.value.bool else {
            throw Fault(words: "does not say whether the row is deleted")
        }
        var updatedAt = try instant(members, "updatedAt")
        // The deletion was later than this. A row that is later still was changed after it.
        if members["deletedSince"]?.value.bool == true {
            updatedAt = updatedAt.map { Instant(ticks: $0.ticks + 1) }
        }
        let row = MovedRow(
            id: id, columns: columns, createdAt: try instant(members, "createdAt"),
            updatedAt: updatedAt, version: try text(members, "version"), deleted: deleted)
        if let words = row.fault(kind) { throw Fault(words: words) }
        return .row(table, kind, row)
    }

    private static func count(_ members: Columns, _ name: String) -> Int? {
        members[name]?.value.integer.map { Int($0) }
    }

    private static func isID(_ text: String, _ kind: IDKind) -> Bool {
        switch kind {
        case .integer: Int64(text).map { $0 > 0 && String($0) == text } ?? false
        case .string: (try? ItemID(text)) != nil
        }
    }

    /// The text of a member; nil where the backend said none.
    private static func text(_ members: Columns, _ name: String) throws(Fault) -> String? {
        guard let value = members[name]?.value, value != .null else { return nil }
        guard let text = value.string else { throw Fault(words: "has a \(name) that is no text") }
        return text
    }

    /// The instant in full precision, 100 ns; nil where the backend said none, or a text that is no time.
    private static func instant(_ members: Columns, _ name: String) throws(Fault) -> Instant? {
        try text(members, name).flatMap { Instant(parsing: $0) }
    }
}
