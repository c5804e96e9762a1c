import ArgumentParser

/// `understudy queue retry ID`, or `--all`.
struct QueueRetry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Send an operation, or all that match, again now.",
        discussion: "JSON: {operation}; with --all {matched, changed, refused, dryRun}.")

    @OptionGroup var target: QueueTarget
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let result = try await options.withOperatorOrStore { client in
            if let id = target.id { return try await Queue.act("retry", id, client) }
            return try await client.post(
                "/operations/retry", [], target.selection.request(dryRun: target.dryRun))
        }
        options.show(result) { target.all ? TerminalText.bulk($0, "to be sent again") : TerminalText.action($0) }
    }
}
