import ArgumentParser

/// `understudy runs list`.
struct RunsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List runs, latest first.",
        discussion: "JSON: {items: [run], next, total}.")

    @OptionGroup var page: PageOptions
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let list = try await options.withOperatorOrStore { try await $0.get("/runs", page.query) }
        options.show(list, TerminalText.runs)
    }
}
