import ArgumentParser
import HTTPMessage
import Program
import Proxy
import SyncCore
import TablesProtocol

/// `understudy tables …`.
struct Tables: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The tables here, and how each is read and written.",
        subcommands: [TablesList.self, TablesSet.self, TablesSetAside.self, TablesRemove.self],
        defaultSubcommand: TablesList.self)
}

/// `understudy tables list`.
struct TablesList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List tables with their counts and policies.",
        discussion: "JSON: {items: [table], next, total}.")

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let list = try await options.withOperatorOrStore { try await $0.get("/tables") }
        options.show(list, TerminalText.tables)
    }
}

/// `understudy tables set TABLE`.
struct TablesSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change how a table is read and written.",
        discussion: "What is not named stays. JSON: the table.")

    @Argument(help: "The table.", completion: .tables)
    var table: String

    @Option(
        help: ArgumentHelp("How it is read: \(Self.words(ReadPolicy.self)).", valueName: "policy"),
        completion: .words(of: ReadPolicy.self))
    var read: String?

    @Option(
        help: ArgumentHelp(
            "When writes are answered: \(Self.words(WritePolicy.self)).", valueName: "policy"),
        completion: .words(of: WritePolicy.self))
    var write: String?

    @Option(
        help: ArgumentHelp(
            "Who decides conflicts: \(Self.words(ConflictPolicy.self)).", valueName: "policy"),
        completion: .words(of: ConflictPolicy.self))
    var conflict: String?

    @Option(
        help: ArgumentHelp(
            """
            Conflicts of writes without If-Match: client, and the local change wins, or ask, and \
            they are decided like others.
            """,
            valueName: "policy"))
    var unconditional: String?

    @Flag(inversion: .prefixedNo, help: "Whether all users share it.")
    var `public`: Bool?

    @OptionGroup var options: ClientOptions

    private static func words<Policy: RawRepresentable & CaseIterable>(
        _ type: Policy.Type
    ) -> String where Policy.RawValue == String {
        type.allCases.map(\.rawValue).joined(separator: ", ")
    }

    func run() async throws {
        let policies = [
            ("readPolicy", read), ("writePolicy", write), ("conflictPolicy", conflict),
            ("unconditionalPolicy", unconditional),
        ]
        var body = policies.compactMap { name, value in
            value.map { JSONValue.Member(name, .string($0)) }
        }
        if let shared = self.public { body.append(.init("isPublic", .bool(shared))) }
        let request = JSONValue.object(body)
        let result = try await options.withOperatorOrStore { client in
            try await client.patch("/tables/\(PercentCoding.encode(table))", request)
        }
        options.show(result) { TerminalText.table($0) }
    }
}

/// `understudy tables set-aside TABLE`.
struct TablesSetAside: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-aside",
        abstract: "List the backend's rows that are not here, since they cannot be taken.",
        discussion: """
            Each pull asks for some of them again; one that was mended comes by itself. \
            JSON: {items: [{id, reason, text, since, seenAt}], next, total}.
            """)

    @Argument(help: "The table.", completion: .tables)
    var table: String

    @OptionGroup var page: PageOptions
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let list = try await options.withOperatorOrStore { client in
            try await client.get("/tables/\(PercentCoding.encode(table))/set-aside", page.query)
        }
        options.show(list, TerminalText.setAside)
    }
}

/// `understudy tables remove TABLE`.
struct TablesRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a table with its rows, history and settings from the store.",
        discussion: """
            The backend keeps its rows. A client that reads the table has it copied again; so does a \
            sync, for a table that the setting `table` names. Open operations forbid it without \
            --force. JSON: {table, removed, discarded}.
            """)

    @Argument(help: "The table.", completion: .tables)
    var table: String

    @Flag(help: "Give up open operations of the table too: they are lost, with their history.")
    var force = false

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let lost = force ? ", and changes that were not sent are lost" : ""
        try confirmation.confirm("The copy of \(table) here and its history are removed\(lost)")
        let request = JSONValue.members(("force", .bool(force)))
        let result = try await options.withOperatorOrStore { client in
            try await client.post("/tables/\(PercentCoding.encode(table))/remove", [], request)
        }
        options.show(result) { result in
            [
                "\(result["removed"]?.integer ?? 0) rows removed, "
                    + "\(result["discarded"]?.integer ?? 0) operations discarded."
            ]
        }
    }
}

/// `understudy purge TABLE`.
struct Purge: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove pulled rows of a table from the store; the backend keeps them.",
        discussion: "JSON: {table, purged, discarded, historyId}; `history --undo` takes the id.")

    @Argument(help: "The table.", completion: .tables)
    var table: String

    @Option(help: "Only what fits, such as \"$filter=complete eq true\"; all rows unless given.")
    var query: String?

    @Flag(help: "Discard open operations of these rows too: they are lost.")
    var force = false

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var options: ClientOptions

    func run() async throws {
        if force { try confirmation.confirm("Open changes of \(table) are given up") }
        // Without a query the whole table is meant, which the person has named.
        let rows = query.map { JSONValue.Member("query", .string($0)) }
        let request = JSONValue.object([
            .init("force", .bool(force)), rows ?? .init("all", .bool(true)),
        ])
        let result = try await options.withOperator { client in
            try await client.post("/tables/\(PercentCoding.encode(table))/purge", [], request)
        }
        options.show(result) { result in
            [
                "\(result["purged"]?.integer ?? 0) rows removed, "
                    + "\(result["discarded"]?.integer ?? 0) operations discarded."
            ]
        }
    }
}

/// `understudy indexes`.
struct Indexes: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Indexes that lists of a table need.",
        discussion: """
            An index makes the lists of one kind quick and every write of the table a little slower. \
            Writes wait until it is built.
            """,
        subcommands: [IndexesList.self, IndexesAdd.self, IndexesDrop.self],
        defaultSubcommand: IndexesList.self)
}

/// `understudy indexes list`.
struct IndexesList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "The indexes there are.",
        discussion: "JSON: {items: [{table, …index}], next, total}.")

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let tables = try await options.withOperatorOrStore { try await $0.get("/tables") }
        let items = (tables["items"]?.array ?? []).flatMap { table -> [JSONValue] in
            (table["indexes"]?.array ?? []).map { index in
                guard case .object(let members) = index else { return index }
                return .object([.init("table", table["name"] ?? .null)] + members)
            }
        }
        let list = JSONValue.members(
            ("items", .array(items)), ("next", .null), ("total", .number(items.count)))
        options.show(list) { _ in
            items.isEmpty ? ["No table has an index of its own."] : items.map(TerminalText.index)
        }
    }
}

/// `understudy indexes add TABLE QUERY`.
struct IndexesAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Build the index that a list of a table needs.",
        discussion: "Writes wait meanwhile: some seconds for a million rows. JSON: the table.")

    @Argument(help: "The table.", completion: .tables)
    var table: String

    @Argument(help: "The list's query: '$filter=complete eq false&$orderby=price desc'.")
    var query: String

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var options: ClientOptions

    func run() async throws {
        try confirmation.confirm("Writes to this store wait while an index of \(table) is built")
        let result = try await options.withOperatorOrStore { client in
            try await build(client)
            return try await state(client)
        }
        options.show(result) { result in
            let built = (result["indexes"]?.array ?? []).filter { $0["builtAt"] != .null }
            return ["\(table) has \(built.count) of \(Limits.indexesPerTable) indexes."]
        }
    }

    /// Builds it and waits for its end.
    private func build(_ client: OperatorClient) async throws {
        let path = "/tables/\(PercentCoding.encode(table))/indexes"
        let id = try await client.post(path, [], .members(("query", .string(query))))["id"]?.integer
        var bar = ProgressBar()
        defer { bar.end() }
        while true {
            let index = try await state(client)["indexes"]?.array?.first {
                $0["id"]?.integer == id
            }
            guard let index else { throw StartProblem("The index was dropped.", .error) }
            if index["builtAt"] != .null { return }
            guard let percent = index["percent"]?.integer else {
                throw StartProblem(
                    index["problem"]?.string ?? "The index could not be built.", .error)
            }
            let columns = (index["columns"]?.array ?? []).compactMap(\.string)
            bar.draw(columns.joined(separator: ", "), done: Int(percent), total: 100)
            try await Task.sleep(for: .milliseconds(Program.Limits.runPollMilliseconds))
        }
    }

    private func state(_ client: OperatorClient) async throws -> JSONValue {
        let tables = try await client.get("/tables")["items"]?.array ?? []
        let found = tables.first { $0["name"]?.string?.lowercased() == table.lowercased() }
        guard let found else { throw StartProblem("There is no table \(table) here.", .error) }
        return found
    }
}

/// `understudy indexes drop TABLE ID`.
struct IndexesDrop: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Drop an index.",
        discussion: "JSON: {}.")

    @Argument(help: "The table.", completion: .tables)
    var table: String

    @Argument(help: "The number that list shows.")
    var id: Int64

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let path = "/tables/\(PercentCoding.encode(table))/indexes/\(id)"
        try await options.withOperatorOrStore { try await $0.delete(path) }
        options.show(.object([])) { _ in ["Index \(id) of \(table) is dropped."] }
    }
}
