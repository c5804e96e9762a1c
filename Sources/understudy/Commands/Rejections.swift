import ArgumentParser
import TablesProtocol

/// `understudy rejections`.
struct Rejections: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Requests that were refused before they were routed, since the start, and why.",
        discussion: """
            A client that gets nothing but errors is often in this list, with the option that \
            allows it. JSON: {items: [rejection], next, total}.
            """)

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let list = try await options.withOperator { try await $0.get("/rejections") }
        options.show(list, TerminalText.rejections)
    }
}
