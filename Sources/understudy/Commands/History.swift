import ArgumentParser
import Proxy
import TablesProtocol

/// `understudy history`.
struct History: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "What happened, newest first; undo entries.",
        discussion: """
            JSON: {items: [entry], next, total}; with --undo {operation}; with --undo-decisions \
            {matched, changed, refused, dryRun}.
            """)

    @Option(help: "Undo the entry with this number.")
    var undo: Int64?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Undo the latest decision about each of these operations.", valueName: "operations"))
    var undoDecisions: [String] = []

    @OptionGroup var page: PageOptions
    @OptionGroup var options: ClientOptions

    func run() async throws {
        if let undo {
            let result = try await options.withOperatorOrStore { client in
                try await client.post("/history/\(undo)/undo")
            }
            return options.show(result, TerminalText.action)
        }
        if !undoDecisions.isEmpty {
            let ids = JSONValue.array(undoDecisions.map { .string($0) })
            let result = try await options.withOperatorOrStore { client in
                try await client.post("/history/undo", [], .members(("operations", ids)))
            }
            return options.show(result) { TerminalText.bulk($0, "undone") }
        }
        let list = try await options.withOperatorOrStore {
            try await $0.get("/history", page.query)
        }
        options.show(list, TerminalText.history)
    }
}
