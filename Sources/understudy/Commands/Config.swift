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
            for statement in sources.statements(setting) where !setting.accepts(statement.text) {
                throw ConfigurationProblem(
                    place: statement.place, value: statement.text, allowed: setting.allowed
                ).startProblem
            }
        }
    }

    private static func json(_ setting: ServeSetting, _ sources: Sources) -> JSONValue {
        let said = sources.statements(setting)
        return .members(
            ("name", .string(setting.name)), ("values", .array(said.map { .string($0.text) })),
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

    func run() throws {
        let problems = Self.problems(in: file)
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
    static func problems(in path: String) -> [String] {
        let sources: Sources
        do {
            let file = try ConfigurationFile.load(flag: path) { _ in nil }
            sources = Sources(flags: [:], environment: { _ in nil }, file: file)
        } catch {
            return [error.sentence]
        }
        let wrong = ServeSetting.all.flatMap { setting in
            sources.statements(setting).filter { !setting.accepts($0.text) }.map { said in
                ConfigurationProblem(
                    place: said.place, value: said.text, allowed: setting.allowed
                ).description
            }
        }
        if !wrong.isEmpty { return wrong }
        do {
            // With a place for the data folder the check needs no home folder.
            let placed = Sources(
                flags: [:], environment: { $0 == "XDG_DATA_HOME" ? "/" : nil }, file: sources.file)
            _ = try ServeConfiguration(placed, rebind: false)
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

    @Option(help: "Where. (default: understudy/understudy.conf in ~/.config)")
    var config: String?

    @Flag(help: "Print it instead.")
    var stdout = false

    func run() async throws {
        if stdout { return ThisProcess.print(own: Self.text) }
        guard
            let path = config ?? ThisProcess.environment(ConfigurationFile.variable)
                ?? ConfigurationFile.standardPath(ThisProcess.environment)
        else { throw StartProblem("There is no HOME, so say where with --config.") }
        do {
            if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
                try Files.makeFolder(String(path[..<slash]))
            }
            let file = try OutputFile(path)
            try file.print(Self.text)
            try file.finish()
        } catch {
            throw StartProblem("\(error)", .error)
        }
        ThisProcess.say("\(path) is written; every setting in it is a comment so far.")
    }

    /// The text of the file: every setting with its purpose, its allowed values and its default.
    static var text: String {
        var lines = [
            "# Understudy. Lines are name = value; a line that begins with # says nothing. The",
            "# command line and the environment (UNDERSTUDY_LISTEN for listen) win over this file.",
            "# A change holds from the next start, or from a SIGHUP where that is said.",
        ]
        for setting in ServeSetting.all {
            lines.append("")
            lines.append(
                "# \(setting.summary)" + (setting.isList ? " Repeat the line for more." : ""))
            lines.append("# Allowed: \(setting.allowed).")
            let isReloaded = Reload.reloadable.contains(setting.name)
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
