import ArgumentParser
import Backend
import Logging
import Platform
import Program
import Site

/// `understudy-site run`: a node of a site.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a backend for a site.",
        discussion: """
            With --access-file it verifies users' tokens, and may listen on other addresses than \
            loopback ones. Without it, it accepts every token, as `understudy backend` does. SIGHUP \
            reads the access file, its keys and the certificate again.

              understudy-site --listen 0.0.0.0:443 --tls-certificate site.pem --tls-key site.key \
            --access-file access.json --admin-token-file admin.token --table todos:per-user

            Each option but --faults can also be set as an environment variable \
            (--access-file is UNDERSTUDY_ACCESS_FILE) or in a configuration file (access-file = \
            access.json); the command line wins over the environment, which wins over the file. \
            `understudy-site config init` writes a file to begin with.

            With --faults, PUT /-/faults makes it slow, wrong or absent.
            """)

    @Option(
        help: """
            The configuration file. (default: understudy/backend.conf in ~/.config, where it is)
            """)
    var config: String?

    @OptionGroup var options: BackendServeOptions

    @OptionGroup var site: SiteOptions

    @Flag(help: "Serve PUT /-/faults and GET /-/effects.")
    var faults = false

    /// The sources of the settings; each call reads the file.
    private func sources() throws(StartProblem) -> Sources {
        Sources(
            flags: options.flags.merging(site.flags) { $1 }, environment: ThisProcess.environment,
            file: try ConfigurationFile.load(
                flag: config, environment: ThisProcess.environment, for: SiteFile.kind))
    }

    func run() async throws {
        // Trapped before the settings are read, so that a change of them is never missed.
        let hangUps = await HangUps()
        let sources = try sources()
        let security = try BackendSecurity(sources)
        let configuration = try SiteConfiguration(sources, security)
        var options = configuration.backend.options
        options.servesFaults = faults
        options.servesHealth = true
        options.servesChanges = true
        let log = try ProcessLog(sources)
        log.warn(of: UnknownVariable.all(ThisProcess.environmentNames))
        let manager = ServiceManager(environment: ThisProcess.environment)
        // Nodes that share PostgreSQL keep nothing in a folder.
        let lock =
            try configuration.database == nil ? configuration.backend.folder.openForDatabase() : nil
        defer { lock?.release() }
        let opened = try await open(configuration, options, log, manager)
        let backend = try RunningBackend.start(
            configuration.backend.listen, security: security, log: log.logger
        ) { try opened.get() }
        sayStart(backend, log)
        if let database = configuration.database {
            try WantedIndex.keep(configuration.indexes, at: database) { [logger = log.logger] in
                Self.say($0, $1, logger)
            }
        }
        let expiring =
            options.kept.keepsAll ? [] : [backend.expiring(everySeconds: Limits.expirySeconds)]
        var lifetime = await Lifetime(services: [backend.service] + expiring)
        lifetime.stopMilliseconds = Program.Limits.backendStopMilliseconds
        lifetime.onStop = { manager.notify("STOPPING=1") }
        lifetime.beforeStop = { signal in
            // A person at a terminal does not wait.
            guard signal == .terminate, configuration.drainSeconds > 0 else { return }
            // A drain may be longer than the manager waits by itself.
            let stop = configuration.drainSeconds * 1000 + Program.Limits.backendStopMilliseconds
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
        await lifetime.run()
    }

    /// Opens the backend. While no server of its database takes writes, as during a failover, it waits and says
    /// so.
    private func open(
        _ configuration: SiteConfiguration, _ options: BackendOptions, _ log: ProcessLog,
        _ manager: ServiceManager
    ) async throws -> Result<TablesBackend, any Error> {
        var reported: ContinuousClock.Instant?
        while true {
            let opened = Result { try configuration.open(options) }
            guard case .failure(let problem as DatabaseAway) = opened else { return opened }
            let now = ContinuousClock.now
            if reported.map({ now - $0 > .seconds(Limits.databaseReportSeconds) }) ?? true {
                reported = now
                log.logger.warning(
                    "node waits for its database", metadata: ["problem": "\(problem)"])
            }
            manager.notify("EXTEND_TIMEOUT_USEC=\(Limits.databaseReportSeconds * 1_000_000)")
            try await Task.sleep(for: .seconds(Limits.databasePauseSeconds))
        }
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
            _ = try SiteConfiguration(sources, security)
            try await backend.reload(security)
            log.choice = logging
            let waiting = ServeSetting.ofSite.filter { setting in
                !setting.isReloaded
                    && started.texts(setting) != sources.texts(setting)
            }.map(\.name)
            log.logger.notice(
                "keys and certificate read again",
                metadata: ["waitsForRestart": "\(waiting.joined(separator: " "))"])
        } catch {
            log.logger.error("keys and certificate kept", metadata: ["problem": "\(error)"])
        }
    }

    /// Logs what became of an index of the settings.
    private static func say(_ index: WantedIndex, _ outcome: WantedIndex.Outcome, _ log: Logger) {
        var about: Logger.Metadata = ["table": "\(index.table)", "column": "\(index.column)"]
        switch outcome {
        case .built: log.notice("index built", metadata: about)
        case .refused(let problem):
            about["problem"] = "\(problem)"
            log.error("index not built", metadata: about)
        case .waits(let problem):
            about["problem"] = "\(problem)"
            log.warning("index waits for the database", metadata: about)
        }
    }

    private func sayStart(_ backend: RunningBackend, _ log: ProcessLog) {
        let url = "\(backend.scheme)://\(backend.address)/tables/"
        if log.choice.isJSON, backend.verifiesTokens {
            log.logger.notice(
                "backend serves", metadata: ["url": "\(url)", "version": "\(Version.text)"])
        } else {
            ThisProcess.say("The backend listens at \(url)")
        }
    }
}
