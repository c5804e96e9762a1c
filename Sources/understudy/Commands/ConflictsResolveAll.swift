import ArgumentParser
import Proxy
import TablesProtocol

/// `understudy conflicts resolve-all CHOICE`.
struct ConflictsResolveAll: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve-all", abstract: "Decide all conflicts that match in the same way.",
        discussion: """
            Those to which the choice does not apply, a merge with a deletion for example, are left \
            and counted as refused. The history can undo each. JSON: {matched, changed, refused, \
            dryRun}.
            """)

    @Argument(help: "mine, server, merged or both.")
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
            let count = planned["matched"]?.integer ?? 0
            if dryRun || count == 0 { return planned }
            try confirmation.confirm("\(count) conflicts are decided: \(choice)")
            return try await client.post("/conflicts/resolve", [], request(dryRun: false))
        }
        options.show(result) { TerminalText.bulk($0, "decided") }
    }

    private func request(dryRun: Bool) -> JSONValue {
        var filter: [JSONValue.Member] = []
        if let table { filter.append(.init("table", .string(table))) }
        if let text { filter.append(.init("q", .string(text))) }
        return .members(
            ("choice", .string(choice)), ("filter", .object(filter)), ("dryRun", .bool(dryRun)))
    }
}
