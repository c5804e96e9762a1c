import ArgumentParser
import HTTPMessage

/// `understudy runs cancel ID`.
struct RunsCancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Stop a run after the request that is under way.",
        discussion: "What it has not sent stays in the queue. JSON: the run.")

    @Argument(help: "Its id.")
    var id: String
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let run = try await options.withOperator { client in
            try await client.post("/runs/\(PercentCoding.encode(id))/cancel")
        }
        options.show(run, TerminalText.run)
    }
}
