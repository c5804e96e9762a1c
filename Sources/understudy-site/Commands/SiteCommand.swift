import ArgumentParser
import Backend
import Platform
import Program
import Site
import TablesProtocol

/// The root command. Without a subcommand it runs.
struct SiteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "understudy-site",
        abstract: "Run a backend for a site, or move rows into it.",
        discussion: """
            Without a subcommand it runs: `understudy-site --listen 127.0.0.1:8081` is \
            `understudy-site run --listen 127.0.0.1:8081`, and `understudy-site run --help` lists its \
            options. docs/SITE.md tells how a site moves in.
            Exit codes: 0 done, 1 error, 2 wrong use or no start possible, 3 the other backend offline, \
            4 rows that differ.
            """,
        version: Version.text,
        subcommands: [
            Run.self, Import.self, Copy.self, Config.self, VersionCommand.self,
        ],
        defaultSubcommand: Run.self)
}

/// `understudy-site config …`.
struct Config: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "What is configured, and where it was said.",
        subcommands: [
            ConfigShow.self, ConfigCheck<SiteFile>.self, ConfigInit<SiteFile>.self,
        ],
        defaultSubcommand: ConfigShow.self)
}

/// `understudy-site config show`.
struct ConfigShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "The settings that a node would start with.",
        discussion: """
            Lines that begin with # are defaults. JSON: {file, settings: [{name, values, origins, \
            default, allowed}]}.
            """)

    @Flag(help: "Say where each value stands: a variable, or a file with its line.")
    var origin = false

    @Option(Settings.backendData, completion: .directory) var data: String?

    @Option(
        help: """
            The configuration file. (default: understudy/backend.conf in ~/.config, where it is)
            """, completion: .file())
    var config: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let environment = ThisProcess.environment
        let sources = Sources(
            flags: [Settings.backendData.name: data.map { [$0] } ?? []], environment: environment,
            file: try ConfigurationFile.load(
                flag: config, environment: environment, for: SiteFile.kind))
        let shown = SettingsReport(ServeSetting.ofSite, sources)
        if json {
            ThisProcess.print(json: shown.json.text)
        } else {
            for line in shown.lines(origin: origin) { ThisProcess.print(line) }
        }
        do {
            try sources.check(ServeSetting.ofSite)
        } catch {
            throw StartProblem(reading: error)
        }
    }
}

/// `understudy-site version`.
struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract: "The version of this program, its commit, and the libraries that it has loaded.",
        discussion: """
            The commit ends with -changed where the sources were not those of the commit. JSON: \
            {version, commit, libraries: [{name, version}]}.
            """)

    @Flag(help: "Print JSON.")
    var json = false

    func run() {
        let own = Library(
            name: "libpq", version: TablesBackend.postgreSQLLibraryVersion)
        VersionReport(program: "understudy-site", libraries: Library.shared + [own])
            .print(json: json)
    }
}
