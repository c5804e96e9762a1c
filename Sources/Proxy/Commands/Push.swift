import ArgumentParser

/// `understudy push`.
struct Push: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Push what is queued.")

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let run = try await options.withOperator { client in
            try await Sync.finished(try await client.post("/push", [("wait", "0")]), client)
        }
        options.show(run, Words.run)
        try Sync.throwResult(run)
    }
}
