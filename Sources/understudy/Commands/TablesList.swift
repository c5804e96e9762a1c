import ArgumentParser

/// `understudy tables list`.
struct TablesList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List tables with their counts and policies.",
        discussion: "JSON: {items: [table], next, total}.")

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let list = try await options.withOperatorOrStore { try await $0.get("/tables") }
        options.show(list, TerminalText.tables)
    }
}
