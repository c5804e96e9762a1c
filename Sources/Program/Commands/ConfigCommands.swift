package import ArgumentParser
import Platform
package import TablesProtocol

/// A program with a configuration file.
package protocol ConfiguredProgram {
    static var kind: ConfigurationKind { get }
}

/// The settings of a program as `config show` shows them.
package struct SettingsReport {
    private let settings: [ServeSetting]
    private let sources: Sources

    package init(_ settings: [ServeSetting], _ sources: Sources) {
        (self.settings, self.sources) = (settings, sources)
    }

    /// All of them, with those that have their default.
    package var json: JSONValue {
        .object([
            .init("file", sources.file.path.map { .string($0) } ?? .null),
            .init("settings", .array(settings.map(json))),
        ])
    }

    private func json(_ setting: ServeSetting) -> JSONValue {
        let said = sources.statements(setting)
        return .object([
            .init("name", .string(setting.name)),
            .init("values", .array(said.map { .string(Self.shown($0, setting)) })),
            .init("origins", .array(said.map { .string($0.place) })),
            .init("default", .string(setting.about.standard)),
            .init("allowed", .string(setting.allowed)),
        ])
    }

    /// The lines of a configuration file that says the same; defaults are comments.
    package func lines(origin: Bool) -> [String] {
        settings.flatMap { setting -> [String] in
            let said = sources.statements(setting)
            if said.isEmpty {
                let line = "# \(setting.name) = \(setting.about.standard)"
                return [origin ? "\(line)  (default)" : line]
            }
            return said.map { statement in
                let line = "\(setting.name) = \(Self.shown(statement, setting))"
                return origin ? "\(line)  (\(statement.place))" : line
            }
        }
    }

    private static func shown(_ said: Sources.Statement, _ setting: ServeSetting) -> String {
        setting.about.isSecret ? setting.shown(said.text) : said.text
    }
}

package struct ConfigCheck<Configured: ConfiguredProgram>: ParsableCommand {
    package static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "check",
            abstract: "Say what is wrong in a configuration file, without starting anything.",
            discussion: """
                The environment and the flags of a start are not looked at. Ends with 2 where something is \
                wrong. JSON: {file, problems: [sentence]}.
                """)
    }

    @Argument(help: "The file.", completion: .file())
    package var file: String

    @Flag(help: "Print JSON.")
    package var json = false

    @Flag(name: .shortAndLong, help: "Print nothing; the exit code says it.")
    package var quiet = false

    package init() {}

    package func run() throws {
        let problems = Self.problems(in: file, for: Configured.kind)
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
    package static func problems(in path: String, for kind: ConfigurationKind) -> [String] {
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
            try kind.check(
                Sources(
                    flags: [:], environment: { $0 == "XDG_DATA_HOME" ? "/" : nil },
                    file: sources.file))
            return []
        } catch {
            return [error.sentence]
        }
    }
}

/// `config init`.
package struct ConfigInit<Configured: ConfiguredProgram>: AsyncParsableCommand {
    package static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "init", abstract: "Write a commented configuration file to begin with.")
    }

    @Option(help: "Where. (default: understudy/\(Configured.kind.fileName) in ~/.config)")
    package var config: String?

    @Flag(help: "Print it instead.")
    package var stdout = false

    package init() {}

    package func run() async throws {
        let text = Self.text(for: Configured.kind)
        if stdout { return ThisProcess.print(own: text) }
        guard
            let path = config ?? ThisProcess.environment(ConfigurationFile.variable)
                ?? ConfigurationFile.standardPath(ThisProcess.environment, for: Configured.kind)
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
    package static func text(for kind: ConfigurationKind) -> String {
        var lines = [
            "# Understudy. Lines are name = value; a line that begins with # says nothing. The",
            "# command line and the environment (UNDERSTUDY_LISTEN for listen) win over this file.",
            "# A change holds from the next start, or from a SIGHUP where that is said.",
        ]
        for setting in kind.settings {
            lines.append("")
            let about = setting.about
            lines.append("# \(about.summary)" + (about.isList ? " Repeat the line for more." : ""))
            lines.append("# Allowed: \(setting.allowed).")
            lines.append(
                "# Default: \(about.standard)."
                    + (setting.isReloaded ? " SIGHUP takes it over." : ""))
            lines.append("#\(setting.name) = \(about.example)")
        }
        return lines.joined(separator: "\n")
    }
}
