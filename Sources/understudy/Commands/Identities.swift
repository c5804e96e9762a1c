import ArgumentParser
import TablesProtocol

/// `understudy identities`.
struct Identities: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The users that have a store here, with their queues.",
        discussion: """
            Name one in --identity of other commands. Of a closed store that was not looked at since \
            the start nothing is known yet. JSON: {items: [{identity, state, openOperations, \
            oldestAt, items, bytes}], next, total}.
            """)

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let list = try await options.withOperatorOrStore { try await $0.get("/identities") }
        options.show(list, TerminalText.identities)
    }
}
