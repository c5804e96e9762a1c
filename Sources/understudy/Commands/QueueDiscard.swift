import ArgumentParser
import TablesProtocol

/// `understudy queue discard ID`, or `--all`.
struct QueueDiscard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Give an operation, or all that match, up.",
        discussion: """
            The change never reaches the backend; the item goes back to the backend's. The history \
            keeps what was given up, and can undo it. JSON: {operation}; with --all {matched, \
            changed, refused, dryRun}.
            """)

    @OptionGroup var target: QueueTarget
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let result = try await options.withOperatorOrStore { client in
            if let id = target.id {
                try confirmation.confirm("The change of operation \(id) is given up")
                return try await Queue.act("discard", id, client)
            }
            let selection = target.selection
            let planned = try await client.post(
                "/operations/discard", [], selection.request(dryRun: true))
            let count = planned["matched"]?.integer ?? 0
            if target.dryRun || count == 0 { return planned }
            try confirmation.confirm("\(count) changes are given up")
            return try await client.post(
                "/operations/discard", [], selection.request(dryRun: false))
        }
        options.show(result) { target.all ? TerminalText.bulk($0, "given up") : TerminalText.action($0) }
    }
}
