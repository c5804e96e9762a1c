import ArgumentParser
import Platform
import Program
import Proxy
import TablesProtocol

struct Config: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "What is configured, and where it was said.",
        subcommands: [
            ConfigShow.self, ConfigCheck<ServeFile>.self, ConfigInit<ServeFile>.self,
        ],
        defaultSubcommand: ConfigShow.self)
}

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
        let shown = SettingsReport(ServeSetting.all, sources)
        options.show(shown.json) { _ in shown.lines(origin: origin) }
        do {
            try sources.check(ServeSetting.all)
        } catch {
            throw StartProblem(reading: error)
        }
    }
}

enum ServeFile: ConfiguredProgram {
    static let kind = ConfigurationKind(
        program: "understudy", fileName: "understudy.conf", settings: ServeSetting.all
    ) { sources throws(StartProblem) in
        let configuration = try ServeConfiguration(sources, rebind: false)
        do throws(StartProblem) {
            try configuration.refuseSelf(at: configuration.addresses)
        } catch {
            throw StartProblem(
                "\(error.sentence) (A socket that a socket unit hands over takes the place of listen.)"
            )
        }
    }
}

struct Paths: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Where everything is kept.",
        discussion: "JSON: {config, data, stores, token, lock}.")

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let folder = try options.folder()
        let file = try options.sources().file.path
        let paths = [
            (
                "config",
                file ?? ConfigurationFile.standardPath(ThisProcess.environment, for: ServeFile.kind)
                    ?? ""
            ),
            ("data", folder.path), ("stores", "\(folder.path)/stores"),
            ("token", folder.tokenFile), ("lock", "\(folder.path)/lock"),
        ]
        let answer = JSONValue.object(paths.map { .init($0.0, .string($0.1)) })
        options.show(answer) { _ in
            paths.map { $0.0.padded(to: 8) + $0.1 }
        }
    }
}

struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "How the running Understudy syncs, until it is stopped.",
        discussion: "What shall hold after a restart stands in the configuration file.",
        subcommands: [SettingsShow.self, SettingsSet.self], defaultSubcommand: SettingsShow.self)
}

struct SettingsShow: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show them.",
        discussion: "JSON: as GET /-/api/v1/settings in /-/openapi.json.")
    static let needsServer = true

    @OptionGroup var options: ClientOptions

    var request: RouteRequest<Answers.Settings> { StatusRoutes.settings() }

    func lines(_ settings: Answers.Settings) -> [String] { TerminalText.members(settings) }
}

struct SettingsSet: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change some, such as intervalSeconds=60.",
        discussion: """
            A value is JSON: triggers='["afterWrites","reconnect"]'. What is not named stays. A name \
            that there is not is an error, which says the nearest, and nothing is changed. JSON: all \
            settings.
            """)
    static let needsServer = true

    @Argument(help: "The settings with their new values.")
    var settings: [String]
    @OptionGroup var options: ClientOptions

    var request: RouteRequest<Answers.Settings> {
        get throws {
            StatusRoutes.changeSettings(
                body: try settings.map { try JSONValue.Member(assignment: $0) })
        }
    }

    func prepare() throws { _ = try request }

    func lines(_ settings: Answers.Settings) -> [String] { TerminalText.members(settings) }
}

extension JSONValue.Member {
    /// Reads `name=value` as a person writes it: the value is JSON, or text where it is no JSON.
    init(assignment text: String) throws(StartProblem) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw StartProblem("\"\(text)\" is no name with a value, such as complete=true.")
        }
        let value = try? JSONValue(parsing: String(parts[1]))
        self.init(String(parts[0]), value ?? .string(String(parts[1])))
    }
}

struct Offline: RequestCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send nothing to the backend until told otherwise.",
        discussion: "JSON: {mode, until}.")
    static let needsServer = true

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Back online after this many seconds.", valueName: "seconds"))
    var seconds: Int64?

    @OptionGroup var options: ClientOptions

    var request: RouteRequest<Answers.Mode> {
        StatusRoutes.setMode(
            body: [
                StatusRoutes.mode("offline"), StatusRoutes.forSeconds(seconds),
            ])
    }

    func lines(_ mode: Answers.Mode) -> [String] {
        ["Offline" + (mode.until.map { " until \($0.text)." } ?? ".")]
    }
}

struct Online: RequestCommand {
    static let configuration = CommandConfiguration(
        abstract: "Talk to the backend again.", discussion: "JSON: {mode, until}.")
    static let needsServer = true

    @OptionGroup var options: ClientOptions

    var request: RouteRequest<Answers.Mode> {
        StatusRoutes.setMode(body: [StatusRoutes.mode("online")])
    }

    func lines(_ mode: Answers.Mode) -> [String] { ["Online."] }
}

struct Notify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The webhook that is told when a person is needed, and whether messages arrive.",
        discussion: "The webhook stands in the configuration file: notify.",
        subcommands: [NotifyShow.self, NotifyTest.self], defaultSubcommand: NotifyShow.self)
}

struct NotifyShow: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the webhook, and the last message.",
        discussion: "JSON: as GET /-/api/v1/notify in /-/openapi.json.")
    static let needsServer = true

    @OptionGroup var options: ClientOptions

    var request: RouteRequest<Answers.NotificationState> { NotifyRoutes.show() }

    func lines(_ state: Answers.NotificationState) -> [String] {
        guard let target = state.target else {
            return ["No message is sent: say notify in the configuration."]
        }
        let last = state.last.map { "Last message, \($0.at.text): \($0.result)" }
        return [
            "\(target) is told when a person is needed.",
            last ?? "No message was sent since the start.",
        ]
    }
}

struct NotifyTest: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Send a test message, and say what came back.",
        discussion: "Ends with 1 if it was not taken. JSON: {at, isTest, isDelivered, result}.")
    static let needsServer = true

    @OptionGroup var options: ClientOptions

    var request: RouteRequest<Answers.NotificationDelivery> { NotifyRoutes.test() }

    func lines(_ delivery: Answers.NotificationDelivery) -> [String] { [delivery.result] }

    func end(_ delivery: Answers.NotificationDelivery) throws {
        if !delivery.isDelivered { throw ExitStatus.error }
    }
}
