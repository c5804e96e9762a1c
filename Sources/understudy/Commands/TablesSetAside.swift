import ArgumentParser
import HTTPMessage

/// `understudy tables set-aside TABLE`.
struct TablesSetAside: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-aside",
        abstract: "List the backend's rows that are not here, since they cannot be taken.",
        discussion: """
            Each pull asks for some of them again; one that was mended comes by itself. \
            JSON: {items: [{id, reason, text, since, seenAt}], next, total}.
            """)

    @Argument(help: "The table.")
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
