import ArgumentParser
import HTTPMessage
import TablesProtocol

/// `understudy pull TABLE`.
struct Pull: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Pull one table.",
        discussion: """
            Ends with 3 when the backend cannot be reached, 4 with conflicts, 5 with quarantined \
            operations. JSON: the run, {id, kind, state, reason, push, pull, …}, as in \
            /-/openapi.json.
            """)

    @Argument(help: "The table.")
    var table: String

    @Option(help: "Only what fits, such as \"$filter=complete eq false\".")
    var query: String?

    @Option(help: "Names the incremental token; without it everything is pulled.")
    var queryID: String?

    @Flag(help: "Remove rows that the backend no longer has.")
    var reconcile = false

    @OptionGroup var options: ClientOptions

    func run() async throws {
        var body: [JSONValue.Member] = [.init("reconcile", .bool(reconcile))]
        if let query { body.append(.init("query", .string(query))) }
        if let queryID { body.append(.init("queryId", .string(queryID))) }
        let request = JSONValue.object(body)
        let run = try await options.withOperator { client in
            try await Sync.finished(
                try await client.post(
                    "/tables/\(PercentCoding.encode(table))/pull", [("wait", "0")], request),
                client)
        }
        options.show(run, TerminalText.run)
        try Sync.throwResult(run)
    }
}
