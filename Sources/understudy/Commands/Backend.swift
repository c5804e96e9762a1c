import ArgumentParser
import Backend
import Logging
import Proxy
import UnixSignals

/// `understudy backend`: a complete tables backend, for trying things out or, with `--access-file`, for a site.
struct Backend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a backend: to try things out, or for a site.",
        discussion: """
            With --access-file it verifies users' tokens, and may listen on other addresses than \
            loopback ones. Without it, it is the reference backend, which accepts every token. SIGHUP \
            reads the access file, its keys and the certificate again.

              understudy backend --listen 0.0.0.0:443 --tls-certificate site.pem --tls-key site.key \
            --access-file access.json --admin-token-file admin.token --table todos:per-user

            Each option but --faults and --samples can also be set as an environment variable \
            (--access-file is UNDERSTUDY_ACCESS_FILE) or in a configuration file (access-file = \
            access.json); the command line wins over the environment, which wins over the file. \
            `understudy config init --for backend` writes a file to begin with.

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

    @Option(
        help: """
            The configuration file. (default: understudy/backend.conf in ~/.config, where it is)
            """)
    var config: String?

    @OptionGroup var options: BackendServeOptions

    @Flag(help: "Serve PUT /-/faults and GET /-/effects.")
    var faults = false

    @Flag(help: "Begin with a dozen sample todos.")
    var samples = false

    /// The sources of the settings; each call reads the file.
    private func sources() throws(StartProblem) -> Sources {
        Sources(
            flags: options.flags, environment: ThisProcess.environment,
            file: try ConfigurationFile.load(
                flag: config, environment: ThisProcess.environment, for: .backend))
    }

    func run() async throws {
        // Trapped before the settings are read, so that a change of them is never missed.
        let hangUps = await HangUps()
        let sources = try sources()
        let security = try BackendSecurity(sources)
        let configuration = try BackendServeConfiguration(
            sources, verifiesTokens: security.access != nil)
        try security.check(
            configuration.listen, allowsPlainHTTP: configuration.allowsPlainHTTP)
        if samples, security.access != nil {
            throw StartProblem(
                "--samples are those of the reference backend, without --access-file.", .usage)
        }
        var options = configuration.options
        options.servesFaults = faults
        options.servesHealth = true
        let log = try ProcessLog(sources)
        log.warn(of: UnknownVariable.all(ThisProcess.environmentNames))
        let manager = ServiceManager(environment: ThisProcess.environment)
        // Nodes that share PostgreSQL keep nothing in a folder.
        let lock = try configuration.database == nil ? configuration.folder.open() : nil
        defer { lock?.release() }
        let backend = try RunningBackend.start(
            configuration.listen,
            on: configuration.database.map(RunningBackend.Database.postgreSQL)
                ?? .file("\(configuration.folder.path)/backend.sqlite"),
            options: options, samples: samples, security: security, log: log.logger)
        sayStart(backend, log)
        var lifetime = await Lifetime(services: [backend.service], log: log.logger)
        lifetime.stopMilliseconds = Limits.backendStopMilliseconds
        lifetime.onStop = { manager.notify("STOPPING=1") }
        lifetime.beforeStop = { signal in
            // A person at a terminal does not wait.
            guard signal == .sigterm, configuration.drainSeconds > 0 else { return }
            // A drain may be longer than the manager waits by itself.
            let stop = configuration.drainSeconds * 1000 + Limits.backendStopMilliseconds
            manager.notify("EXTEND_TIMEOUT_USEC=\(stop * 1000)")
            log.logger.notice(
                "node drains", metadata: ["seconds": .stringConvertible(configuration.drainSeconds)]
            )
            await backend.drain(seconds: configuration.drainSeconds)
        }
        lifetime.hangUps = hangUps
        lifetime.onHangUp = {
            manager.notify(
                "RELOADING=1", "MONOTONIC_USEC=\(ServiceManager.monotonicMicroseconds)")
            await reload(backend, log, started: sources)
            manager.notify("READY=1")
        }
        // The manager may send a signal from now on, and each is trapped.
        manager.notify("READY=1")
        try await lifetime.run()
    }

    /// Applies what a SIGHUP applies, and logs which other settings differ from those of the start. If a value
    /// is invalid, nothing changes.
    private func reload(
        _ backend: RunningBackend, _ log: ProcessLog, started: Sources
    ) async {
        do {
            let sources = try sources()
            let logging = try ProcessLog.Choice(sources)
            let security = try BackendSecurity(sources)
            // Settings that wait for a restart must be valid too: that restart would fail.
            _ = try BackendServeConfiguration(sources, verifiesTokens: security.access != nil)
            try await backend.reload(security)
            log.choice = logging
            let waiting = ServeSetting.ofBackend.filter { setting in
                !BackendSecurity.reloadable.contains(setting.name)
                    && started.texts(setting) != sources.texts(setting)
            }.map(\.name)
            log.logger.notice(
                "keys and certificate read again",
                metadata: ["waitsForRestart": "\(waiting.joined(separator: " "))"])
        } catch {
            log.logger.error("keys and certificate kept", metadata: ["problem": "\(error)"])
        }
    }

    private func sayStart(_ backend: RunningBackend, _ log: ProcessLog) {
        let url = "\(backend.scheme)://\(backend.address)/tables/"
        if log.choice.isJSON, backend.verifiesTokens {
            log.logger.notice(
                "backend serves", metadata: ["url": "\(url)", "version": "\(Version.text)"])
        } else {
            ThisProcess.say(
                "The \(backend.verifiesTokens ? "backend" : "reference backend") listens at \(url)")
        }
    }
}
