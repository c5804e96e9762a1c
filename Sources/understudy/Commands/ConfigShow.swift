import ArgumentParser
import Proxy
import TablesProtocol

/// `understudy config show`.
struct ConfigShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "The settings that `serve` would start with.",
        discussion: """
            Lines that begin with # are defaults. JSON: {file, settings: [{name, values, origins, \
            default, allowed}]}.
            """)

    @Flag(help: "Say where each value stands: a variable, or a file with its line.")
    var origin = false

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let sources = try options.sources()
        let answer = JSONValue.members(
            ("file", .text(sources.file.path)),
            ("settings", .array(ServeSetting.all.map { Self.json($0, sources) })))
        options.show(answer) { TerminalText.settings($0, origin: origin) }
        for setting in ServeSetting.all {
            for said in sources.said(setting) where !setting.accepts(said.text) {
                throw ConfigurationProblem(
                    place: said.place, value: said.text, allowed: setting.allowed
                ).startProblem
            }
        }
    }

    private static func json(_ setting: ServeSetting, _ sources: Sources) -> JSONValue {
        let said = sources.said(setting)
        return .members(
            ("name", .string(setting.name)), ("values", .array(said.map { .string($0.text) })),
            ("origins", .array(said.map { .string($0.place) })),
            ("default", .string(setting.standard)), ("allowed", .string(setting.allowed)))
    }
}
