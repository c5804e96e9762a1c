import ArgumentParser
import HTTPMessage

/// `understudy queue show ID`.
struct QueueShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "One operation with all its attempts.",
        discussion: "JSON: {summary, payload, base, mine, server, attempts}.")

    @Argument(help: "Its id.")
    var id: String
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let detail = try await options.withOperatorOrStore { client in
            try await client.get("/operations/\(PercentCoding.encode(id))")
        }
        options.show(detail, TerminalText.detail)
    }
}
