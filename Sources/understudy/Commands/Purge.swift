import ArgumentParser
import HTTPMessage
import TablesProtocol

/// `understudy purge TABLE`.
struct Purge: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove pulled rows of a table from the store; the backend keeps them.",
        discussion: "JSON: {purged, discarded}.")

    @Argument(help: "The table.")
    var table: String

    @Option(help: "Only what fits, such as \"$filter=complete eq true\".")
    var query: String?

    @Flag(help: "Discard open operations of these rows too: they are lost.")
    var force = false

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var options: ClientOptions

    func run() async throws {
        if force { try confirmation.confirm("Open changes of \(table) are given up") }
        var body: [JSONValue.Member] = [.init("force", .bool(force))]
        if let query { body.append(.init("query", .string(query))) }
        let request = JSONValue.object(body)
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
