import ArgumentParser
import TablesProtocol

/// `understudy settings set NAME=VALUE…`.
struct SettingsSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change some, such as intervalSeconds=60.",
        discussion: """
            A value is JSON: triggers='["write","reconnect"]'. What is not named stays. JSON: all \
            settings.
            """)

    @Argument(help: "The settings with their new values.")
    var settings: [String]
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let members = try settings.map { try JSONValue.Member(assignment: $0) }
        let result = try await options.withOperator { client in
            try await client.patch("/settings", .object(members))
        }
        options.show(result, TerminalText.members)
    }
}
