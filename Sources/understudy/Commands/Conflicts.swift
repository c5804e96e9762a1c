import ArgumentParser
import HTTPMessage
import Proxy
import TablesProtocol

/// `understudy conflicts …`.
struct Conflicts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Changes of two sides to the same item, and whose to keep.",
        subcommands: [List.self, Show.self, Resolve.self, ConflictsResolveAll.self],
        defaultSubcommand: List.self)

    /// `conflicts list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List open conflicts.", discussion: "JSON: {items: [conflict], next, total}.")

        @OptionGroup var page: PageOptions
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let (list, users) = try await options.withOperatorOrStore { [options, page] client in
                (
                    try await client.get("/conflicts", page.query),
                    try await UserStores.read(client, options)
                )
            }
            options.show(list, TerminalText.conflicts)
            if let hint = users?.hint { options.tell(hint) }
        }
    }

    /// `conflicts show ID`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "One conflict, field by field.",
            discussion: "JSON: {id, table, itemId, revision, base, mine, server, fields, …}.")

        @Argument(help: "Its id.", completion: .conflicts)
        var id: String
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let conflict = try await options.withOperatorOrStore { client in
                try await client.get("/conflicts/\(PercentCoding.encode(id))")
            }
            options.show(conflict, TerminalText.conflict)
        }
    }

    /// `conflicts resolve ID CHOICE`.
    struct Resolve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Decide a conflict.",
            discussion: "JSON: {operation}, what is left to send; null when nothing is.")

        @Argument(help: "Its id.", completion: .conflicts)
        var id: String
        @Argument(
            help: "mine, server, merged, both, or edited with --item.",
            completion: .list(["mine", "server", "merged", "both", "edited"]))
        var choice: String
        @Option(help: "With edited: the columns as JSON, such as '{\"text\":\"Buy eggs\"}'.")
        var item: String?
        @OptionGroup var options: ClientOptions

        func run() async throws {
            var edited: JSONValue?
            if let item {
                do {
                    edited = try JSONValue(parsing: item)
                } catch {
                    throw StartProblem("--item cannot be read: \(error)")
                }
            }
            let result = try await options.withOperatorOrStore { [edited] client in
                let path = "/conflicts/\(PercentCoding.encode(id))"
                let conflict = try await client.get(path)
                var body: [JSONValue.Member] = [
                    .init("revision", conflict["revision"] ?? .null),
                    .init("choice", .string(choice)),
                ]
                if let edited { body.append(.init("item", edited)) }
                return try await client.post("\(path)/resolve", [], .object(body))
            }
            options.show(result, TerminalText.action)
        }
    }
}

/// `understudy conflicts resolve-all CHOICE`.
struct ConflictsResolveAll: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve-all", abstract: "Decide all conflicts that match in the same way.",
        discussion: """
            Those to which the choice does not apply, a merge with a deletion for example, are left \
            and counted as refused. The history can undo each. JSON: {matched, changed, refused, \
            dryRun}.
            """)

    @Argument(
        help: "mine, server, merged or both.",
        completion: .list(["mine", "server", "merged", "both"]))
    var choice: String

    @Option(help: "Only of this table.")
    var table: String?

    @Option(help: "Only those that contain this text.")
    var text: String?

    @Flag(help: "Only say how many there are.")
    var dryRun = false

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let result = try await options.withOperatorOrStore { client in
            let planned = try await client.post("/conflicts/resolve", [], request(dryRun: true))
            if dryRun { return planned }
            let count = planned["matched"]?.integer ?? 0
            let conflicts = count == 1 ? "1 conflict gets" : "\(count) conflicts get"
            // Operations that come after the plan were not confirmed.
            if count == 0 { return JSONValue.nothingMatched }
            try confirmation.confirm("\(conflicts) the decision \(choice)")
            return try await client.post("/conflicts/resolve", [], request(dryRun: false))
        }
        options.show(result) {
            TerminalText.bulk($0, "decided", left: "the choice does not apply to them")
        }
    }

    private func request(dryRun: Bool) -> JSONValue {
        var filter: [JSONValue.Member] = []
        if let table { filter.append(.init("table", .string(table))) }
        if let text { filter.append(.init("q", .string(text))) }
        return .selection(
            filter, [.init("choice", .string(choice)), .init("dryRun", .bool(dryRun))])
    }
}
