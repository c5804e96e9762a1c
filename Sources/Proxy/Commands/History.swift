import ArgumentParser

/// `understudy history`.
struct History: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "What happened, newest first; undo one entry.")

    @Option(help: "Undo the entry with this number.")
    var undo: Int64?

    @OptionGroup var page: PageOptions
    @OptionGroup var options: ClientOptions

    func run() async throws {
        if let undo {
            let result = try await options.withOperatorOrStore { client in
                try await client.post("/history/\(undo)/undo")
            }
            return options.show(result, Words.action)
        }
        let list = try await options.withOperatorOrStore {
            try await $0.get("/history", page.query)
        }
        options.show(list, Words.history)
    }
}
