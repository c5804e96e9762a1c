import ArgumentParser
import Proxy
import TablesProtocol

/// `understudy config …`.
struct Config: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "What is configured, and where it was said.",
        subcommands: [ConfigShow.self, ConfigCheck.self, ConfigInit.self],
        defaultSubcommand: ConfigShow.self)
}

/// Which command the configuration is for.
struct ConfigurationPurpose: ParsableArguments {
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("The command: serve or backend. (default: serve)", valueName: "command"),
        completion: .words(of: ConfigurationKind.self))
    var command: ConfigurationKind?

    /// The kind of its configuration file.
    var kind: ConfigurationKind { command ?? .serve }
}

/// `understudy config show`.
struct ConfigShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "The settings that `serve` or `backend` would start with.",
        discussion: """
            Lines that begin with # are defaults. JSON: {file, settings: [{name, values, origins, \
            default, allowed}]}.
            """)

    @Flag(help: "Say where each value stands: a variable, or a file with its line.")
    var origin = false

    @OptionGroup var purpose: ConfigurationPurpose

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let sources = try sources()
        let answer = JSONValue.members(
            ("file", .text(sources.file.path)),
            ("settings", .array(purpose.kind.settings.map { Self.json($0, sources) })))
        options.show(answer) { TerminalText.settings($0, origin: origin) }
        do {
            try sources.check(purpose.kind.settings)
        } catch {
            throw StartProblem(reading: error)
        }
    }

    private func sources() throws(StartProblem) -> Sources {
        if purpose.kind == .serve { return try options.sources() }
        let environment = ThisProcess.environment
        return Sources(
            flags: [Settings.data.name: options.data.map { [$0] } ?? []],
            environment: environment,
            file: try ConfigurationFile.load(
                flag: options.config, environment: environment, for: purpose.kind))
    }

    private static func json(_ setting: ServeSetting, _ sources: Sources) -> JSONValue {
        let said = sources.statements(setting)
        let values = said.map { setting.isSecret ? ServeSetting.notShown : $0.text }
        return .members(
            ("name", .string(setting.name)), ("values", .array(values.map { .string($0) })),
            ("origins", .array(said.map { .string($0.place) })),
            ("default", .string(setting.standard)), ("allowed", .string(setting.allowed)))
    }
}

/// `understudy config check FILE`.
struct ConfigCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say what is wrong in a configuration file, without starting anything.",
        discussion: """
            The environment and the flags of a start are not looked at. Ends with 2 where something is \
            wrong. JSON: {file, problems: [sentence]}.
            """)

    @Argument(help: "The file.", completion: .file())
    var file: String

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print nothing; the exit code says it.")
    var quiet = false

    @OptionGroup var purpose: ConfigurationPurpose

    func run() throws {
        let problems = Self.problems(in: file, for: purpose.kind)
        if json {
            ThisProcess.print(
                json: JSONValue.members(
                    ("file", .string(file)), ("problems", .array(problems.map { .string($0) }))
                ).text)
        } else if !quiet {
            for problem in problems { ThisProcess.print(problem) }
            if problems.isEmpty { ThisProcess.print("\(file): all is well.") }
        }
        if !problems.isEmpty { throw ExitStatus.usage }
    }

    /// What is wrong: that the file cannot be read, each wrong value, or what a start would refuse.
    static func problems(in path: String, for kind: ConfigurationKind = .serve) -> [String] {
        let sources: Sources
        do {
            let file = try ConfigurationFile.load(
                flag: path, environment: { _ in nil }, for: kind)
            sources = Sources(flags: [:], environment: { _ in nil }, file: file)
        } catch {
            return error.sentence.split(separator: "\n").map(String.init)
        }
        let wrong = sources.problems(of: kind.settings)
        if !wrong.isEmpty { return wrong.map(\.description) }
        do {
            // With a place for the data folder the check needs no home folder.
            let placed = Sources(
                flags: [:], environment: { $0 == "XDG_DATA_HOME" ? "/" : nil }, file: sources.file)
            switch kind {
            case .serve:
                let configuration = try ServeConfiguration(placed, rebind: false)
                do {
                    try configuration.refuseSelf(at: configuration.addresses)
                } catch {
                    return [
                        "\(error.sentence) (A socket that a socket unit hands over takes the place of listen.)"
                    ]
                }
            case .backend:
                let security = try BackendSecurity(placed)
                let configuration = try BackendServeConfiguration(
                    placed, verifiesTokens: security.access != nil)
                try security.check(
                    configuration.listen, allowsPlainHTTP: configuration.allowsPlainHTTP)
            }
            return []
        } catch {
            return [error.sentence]
        }
    }
}

/// `understudy config init`.
struct ConfigInit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a commented configuration file to begin with.")

    @Option(
        help: """
            Where. (default: understudy/understudy.conf in ~/.config, for backend \
            understudy/backend.conf)
            """)
    var config: String?

    @Flag(help: "Print it instead.")
    var stdout = false

    @OptionGroup var purpose: ConfigurationPurpose

    func run() async throws {
        let text = Self.text(for: purpose.kind)
        if stdout { return ThisProcess.print(own: text) }
        guard
            let path = config ?? ThisProcess.environment(ConfigurationFile.variable)
                ?? ConfigurationFile.standardPath(ThisProcess.environment, for: purpose.kind)
        else { throw StartProblem("There is no HOME, so say where with --config.") }
        do {
            if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
                try Files.makeFolder(String(path[..<slash]))
            }
            let file = try OutputFile(path)
            try file.print(text)
            try file.finish()
        } catch {
            if Files.exists(path) {
                throw StartProblem(
                    "\(error) Edit it, name another one with --config, or print what would be written "
                        + "with --stdout.", .error)
            }
            throw StartProblem("\(error)", .error)
        }
        ThisProcess.say("\(path) is written; every setting in it is a comment so far.")
    }

    /// The text of the file: every setting with its purpose, its allowed values and its default.
    static func text(for kind: ConfigurationKind) -> String {
        var lines = [
            "# Understudy. Lines are name = value; a line that begins with # says nothing. The",
            "# command line and the environment (UNDERSTUDY_LISTEN for listen) win over this file.",
            "# A change holds from the next start, or from a SIGHUP where that is said.",
        ]
        for setting in kind.settings {
            lines.append("")
            lines.append(
                "# \(setting.summary)" + (setting.isList ? " Repeat the line for more." : ""))
            lines.append("# Allowed: \(setting.allowed).")
            let isReloaded = kind.reloadable.contains(setting.name)
            lines.append(
                "# Default: \(setting.standard)." + (isReloaded ? " SIGHUP takes it over." : ""))
            lines.append("#\(setting.name) = \(setting.example)")
        }
        return lines.joined(separator: "\n")
    }
}

/// `understudy paths`.
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
                file ?? ConfigurationFile.standardPath(ThisProcess.environment) ?? ""
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

/// `understudy settings …`.
struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "How the running Understudy syncs, until it is stopped.",
        discussion: "What shall hold after a restart stands in the configuration file.",
        subcommands: [SettingsShow.self, SettingsSet.self], defaultSubcommand: SettingsShow.self)
}

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

/// `understudy settings set NAME=VALUE…`.
struct SettingsSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change some, such as intervalSeconds=60.",
        discussion: """
            A value is JSON: triggers='["afterWrites","reconnect"]'. What is not named stays. A name \
            that there is not is an error, which says the nearest, and nothing is changed. JSON: all \
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

/// `understudy offline`.
struct Offline: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send nothing to the backend until told otherwise.",
        discussion: "JSON: {mode, until}.")

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Back online after this many seconds.", valueName: "seconds"))
    var seconds: Int?

    @OptionGroup var options: ClientOptions

    func run() async throws {
        var body: [JSONValue.Member] = [.init("mode", .string("offline"))]
        if let seconds { body.append(.init("forSeconds", .number(seconds))) }
        let request = JSONValue.object(body)
        let mode = try await options.withOperator { try await $0.post("/mode", [], request) }
        options.show(mode) { mode in
            ["Offline" + (mode["until"]?.string.map { " until \($0)." } ?? ".")]
        }
    }
}

/// `understudy online`.
struct Online: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Talk to the backend again.", discussion: "JSON: {mode, until}.")

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let body = JSONValue.members(("mode", .string("online")))
        let mode = try await options.withOperator { try await $0.post("/mode", [], body) }
        options.show(mode) { _ in ["Online."] }
    }
}
