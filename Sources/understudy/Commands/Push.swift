import ArgumentParser

/// `understudy push`.
struct Push: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Push what is queued.",
        discussion: """
            Ends with 3 when the backend cannot be reached, 4 with conflicts, 5 with quarantined \
            operations. JSON: the run, {id, kind, state, reason, push, pull, …}, as in \
            /-/openapi.json.
            """)

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let run = try await options.withOperator { client in
            try await Sync.finished(try await client.post("/push", [("wait", "0")]), client)
        }
        options.show(run, TerminalText.run)
        try Sync.throwResult(run)
    }
}
