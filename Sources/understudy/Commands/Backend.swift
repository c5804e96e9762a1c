import ArgumentParser
import Backend
import Platform
import Program
import Proxy

/// `understudy backend`: the reference backend, for trying things out.
struct Backend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backend",
        abstract: "Run the reference backend, to try things out.",
        discussion: """
            `understudy backend --listen 127.0.0.1:8081` is \
            `understudy backend run --listen 127.0.0.1:8081`; `understudy backend run --help` lists \
            the options. The backend of a site is another program, `understudy-site`.
            """,
        subcommands: [BackendRun.self], defaultSubcommand: BackendRun.self)
}

struct BackendRun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the reference backend, to try things out.",
        discussion: """
            It keeps its rows in a file of SQLite and accepts every token, so it listens on loopback \
            addresses alone. The backend of a site is `understudy-site`.

            Each option but --faults and --samples can also be set as an environment variable \
            (--page-rows is UNDERSTUDY_PAGE_ROWS); the command line wins.

            With --faults, PUT /-/faults makes it slow, wrong or absent.

            --flavour express is azure-mobile-apps for Node in an application of its own: it has \
            only the tables that --table names, everything else is Express' page 404, pages have \
            1,000 rows, and tables delete for good. A token for a table with the word authenticated \
            comes from POST /.auth/login/PROVIDER with {"access_token":"ANY NAME"}. A table with the \
            words integer+reused-ids gives the id of its last row again when that row is gone, as SQLite \
            does without AUTOINCREMENT.

            To try out what other servers do: a table with unique=COLUMN or references=COLUMN.TABLE answers \
            409 as a unique index or a foreign key makes a server do, and one with no-versions has rows \
            without a version.

              understudy backend --flavour express --table movies --table numbers:integer \
            --table secrets:authenticated+no-delete
            """)

    @OptionGroup var options: BackendServeOptions

    @Flag(help: "Serve PUT /-/faults and GET /-/effects.")
    var faults = false

    @Flag(help: "Begin with a dozen sample todos.")
    var samples = false

    func run() async throws {
        let sources = Sources(flags: options.flags, environment: ThisProcess.environment)
        do {
            try SiteWords.check(sources.environment)
            try sources.check(ServeSetting.ofBackend)
        } catch {
            throw StartProblem(reading: error)
        }
        let configuration = try BackendServeConfiguration(sources)
        try BackendSecurity().check(configuration.listen, allowsPlainHTTP: false)
        var options = configuration.options
        options.servesFaults = faults
        options.servesHealth = true
        let log = try ProcessLog(sources)
        log.warn(of: UnknownVariable.all(ThisProcess.environmentNames))
        let lock = try configuration.folder.openForDatabase()
        defer { lock.release() }
        let backend = try RunningBackend.start(
            configuration.listen, samples: samples, log: log.logger
        ) {
            try TablesBackend(
                at: "\(configuration.folder.path)/backend.sqlite", options: options
            ) { ThisProcess.now }
        }
        ThisProcess.say(
            "The reference backend listens at \(backend.scheme)://\(backend.address)/tables/")
        var lifetime = await Lifetime(services: [backend.service])
        lifetime.stopMilliseconds = Program.Limits.backendStopMilliseconds
        await lifetime.run()
    }
}

/// The words of a command line that are for `understudy-site`.
enum SiteWords {
    /// The commands of `understudy-site` that `understudy backend` had.
    private static let commands = ["import", "copy"]
    /// The settings of a site alone.
    static let settings = [
        "access-file", "admin-token-file", "allow-plain-http", "config", "database",
        "default-access", "drain", "no-allow-plain-http", "tls-certificate", "tls-key",
    ]

    /// Why the words after `understudy` are for the other program; nil where they are not.
    static func refusal(_ words: [String]) -> StartProblem? {
        guard words.first == "backend" || words.first == "demo" else { return nil }
        if words.first == "backend", words.count > 1, commands.contains(words[1]) {
            return StartProblem(
                "That is a command of another program: understudy-site \(words[1]).", .usage)
        }
        for word in words.dropFirst() where word.hasPrefix("--") {
            let name = word.dropFirst(2).prefix { $0 != "=" }
            if settings.contains(String(name)) { return problem("--\(name)") }
        }
        return nil
    }

    /// Throws where a variable makes a backend one of a site.
    static func check(_ environment: (String) -> String?) throws(StartProblem) {
        for variable in variables where environment(variable)?.isEmpty == false {
            throw problem(variable)
        }
    }

    /// The variables of a site alone. Allowing plain HTTP is a setting of `serve` too.
    static let variables = ["access-file", "admin-token-file", "database"].map(
        ServeSetting.variable)

    private static func problem(_ said: String) -> StartProblem {
        StartProblem(
            "\(said) is for the backend of a site, which is another program: understudy-site.",
            .usage)
    }
}
