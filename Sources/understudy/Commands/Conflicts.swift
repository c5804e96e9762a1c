import ArgumentParser
import HTTPMessage
import Platform
import Proxy
import SyncCore
import TablesProtocol

struct Conflicts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Changes of two sides to the same item, and whose to keep.",
        subcommands: [List.self, Show.self, Resolve.self, ConflictsResolveAll.self],
        defaultSubcommand: List.self)

    struct List: ListCommand {
        static let configuration = CommandConfiguration(
            abstract: "List open conflicts.", discussion: "JSON: {items: [conflict], next, total}.")
        static let nothing = "No conflicts."
        static let hintsAtUsers = true

        @OptionGroup var selection: ChangeSelection
        @OptionGroup var page: PageOptions
        @OptionGroup var form: ListFormOptions
        @OptionGroup var options: ClientOptions

        var request: RouteRequest<Page<ConflictDetail>> {
            ConflictRoutes.list(query: page.query + selection.query)
        }

        func run() async throws {
            let whole = ConflictRoutes.list(query: selection.query)
            if try await form.write(whole, page, options) { return }
            try await askAndShow()
        }

        func lines(of conflict: ConflictDetail) -> [String] {
            TerminalText.conflict(conflict)
        }
    }

    /// `conflicts show ID`.
    struct Show: RequestCommand {
        static let configuration = CommandConfiguration(
            abstract: "One conflict, field by field.",
            discussion: "JSON: {id, table, itemId, revision, base, mine, server, fields, …}.")

        @Argument(help: "Its id.", completion: .conflicts)
        var id: String
        @OptionGroup var options: ClientOptions

        var request: RouteRequest<ConflictDetail> { ConflictRoutes.show(id) }

        func lines(_ conflict: ConflictDetail) -> [String] {
            TerminalText.conflict(conflict)
        }
    }

    /// `conflicts resolve ID CHOICE`.
    struct Resolve: AskingCommand {
        static let configuration = CommandConfiguration(
            abstract: "Decide a conflict.",
            discussion: "JSON: {operation}, what is left to send; null when nothing is.")

        @Argument(help: "Its id.", completion: .conflicts)
        var id: String
        @Argument(
            help: "mine, server, merged, newest, both, or edited with --item.",
            completion: .list(["mine", "server", "merged", "newest", "both", "edited"]))
        var choice: String
        @Option(help: "With edited: the columns as JSON, such as '{\"text\":\"Buy eggs\"}'.")
        var item: String?
        @OptionGroup var options: ClientOptions

        private var edited: JSONValue? {
            get throws(StartProblem) {
                do {
                    return try item.map { try JSONValue(parsing: $0) }
                } catch {
                    throw StartProblem("--item cannot be read: \(error)")
                }
            }
        }

        func prepare() throws { _ = try edited }

        func ask(_ client: OperatorClient) async throws -> Answers.ActionResult {
            let conflict = try await client.answer(ConflictRoutes.show(id))
            return try await client.answer(
                ConflictRoutes.resolve(
                    id,
                    body: [
                        QueueRoutes.revision(conflict.revision), ConflictRoutes.choice(choice),
                        ConflictRoutes.item(try edited),
                    ]))
        }

        func lines(_ result: Answers.ActionResult) -> [String] { TerminalText.action(result) }
    }
}

struct ConflictsResolveAll: AskingCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve-all", abstract: "Decide all conflicts that match in the same way.",
        discussion: """
            Those to which the choice does not apply, a merge with a deletion for example, are left \
            and counted as refused. The history can undo each. JSON: {matched, changed, refused, \
            dryRun}.
            """)

    @Argument(
        help: ArgumentHelp(
            "mine, server, merged, newest or both.",
            discussion: """
                newest: where both changed a field, the side that was written later; its time is by \
                its own clock.
                """),
        completion: .list(["mine", "server", "merged", "newest", "both"]))
    var choice: String

    @OptionGroup var selection: ChangeSelection

    @Flag(help: "Only say how many there are.")
    var dryRun = false

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var options: ClientOptions

    func ask(_ client: OperatorClient) async throws -> BulkResult {
        try await client.bulk(ConflictRoutes.resolveAll, dryRun: dryRun, body) { count in
            let conflicts = count == 1 ? "1 conflict gets" : "\(count) conflicts get"
            try confirmation.confirm("\(conflicts) the decision \(choice)")
        }
    }

    func lines(_ result: BulkResult) -> [String] {
        TerminalText.bulk(result, "decided", left: "the choice does not apply to them")
    }

    private func body(dryRun: Bool) -> [JSONValue.Member?] {
        QueueSelection.body(selection.query, dryRun: dryRun) + [ConflictRoutes.choice(choice)]
    }
}
