import ArgumentParser
import TablesProtocol

/// `understudy rejections`.
struct Rejections: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Requests that were refused at the door since the start, and why.",
        discussion: """
            A client that gets nothing but errors is often in this list, with the option that would \
            let it in. JSON: {items: [rejection], next, total}.
            """)

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let list = try await options.withOperator { try await $0.get("/rejections") }
        options.show(list, TerminalText.rejections)
    }
}
