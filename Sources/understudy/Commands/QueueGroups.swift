import ArgumentParser

/// `understudy queue groups`.
struct QueueGroups: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "groups", abstract: "Count operations by state and reason.",
        discussion: """
            A reason as it stands here is what --reason of the other commands takes. JSON: {items: \
            [{state, reason, count, since}], next, total}.
            """)

    @OptionGroup var selection: QueueSelection
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let list = try await options.withOperatorOrStore {
            try await $0.get("/operations/groups", selection.query)
        }
        options.show(list, TerminalText.groups)
    }
}
