import ArgumentParser

/// `understudy queue list`.
struct QueueList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List operations, in the order in which they are sent.",
        discussion: "JSON: {items: [operation], next, total}.")

    @OptionGroup var selection: QueueSelection
    @OptionGroup var page: PageOptions
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let query = page.query + selection.query
        let list = try await options.withOperatorOrStore { try await $0.get("/operations", query) }
        options.show(list, TerminalText.operations)
    }
}
