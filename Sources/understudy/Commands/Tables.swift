import ArgumentParser
import HTTPMessage
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
