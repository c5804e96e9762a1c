import ArgumentParser

/// `understudy settings show`.
struct SettingsShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show them.",
        discussion: "JSON: as GET /-/api/v1/settings in /-/openapi.json.")

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let settings = try await options.withOperator { try await $0.get("/settings") }
        options.show(settings, TerminalText.members)
    }
}
