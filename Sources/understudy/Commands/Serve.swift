import ArgumentParser
import Logging
import Program
import Proxy
import SyncCore

/// `understudy serve`: stand in for a backend until a signal.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stand in for a backend.",
        discussion: """
            Clients use http://127.0.0.1:8080 instead of the backend's address. Ctrl-C stops it and \
            loses nothing.

            Each option can also be set as an environment variable (--allow-host is \
            UNDERSTUDY_ALLOW_HOST) or in a configuration file (allow-host = 10.0.2.2:8080); the \
            command line wins over the environment, which wins over the file. `understudy config \
            show --origin` says what holds and why. SIGHUP reads the file again.
            """)

    @OptionGroup var backend: BackendChoiceOptions

    @Option(
        help: """
            The configuration file. (default: understudy/understudy.conf in ~/.config, where it is)
            """)
    var config: String?

    @OptionGroup var backendConnection: BackendConnectionOptions

    @OptionGroup var options: ServeOptions

    @Option(
        help: ArgumentHelp(
            """
            With --rebind: the user of this backend who gets a store of another one with its queue. \
            The store as `understudy identities` names it, and the user's id here, or the identity \
            that the user already has; repeat it.
            """, valueName: "store=user"))
    var identity: [String] = []

    func validate() throws {
        if !identity.isEmpty, !options.rebind {
            throw ValidationError("--identity belongs to --rebind; give both.")
        }
    }

    func run() async throws {
        // Trapped before the settings are read, so that a change of them is never missed.
        let hangUps = await HangUps()
        let sources = try sources()
        var configuration = try ServeConfiguration(sources, rebind: options.rebind)
        configuration.proxy.takeovers = try takeovers()
        let log = try ProcessLog(sources)
        log.warn(of: UnknownVariable.all(ThisProcess.environmentNames))
        let manager = ServiceManager(environment: ThisProcess.environment)
        let lock = try configuration.proxy.folder.open()
        var composition = Composition(configuration, log: log.logger)
        composition.sockets = manager.sockets
        let running = RunningSettings(sources)
        composition.report = log.report(running)
        let proxy = try await composition.start(lock)
        let report = ServiceReport(graph: proxy.graph, manager: manager, log: log.logger)
        let reload = Reload(
            graph: proxy.graph, folder: proxy.folder, log: log, current: sources,
            running: running, rebind: options.rebind, reading: self.sources)
        var lifetime = await Lifetime(
            services: proxy.services + [LoopService { await report.run() }], log: log.logger)
        lifetime.hangUps = hangUps
        lifetime.onStop = { manager.notify("STOPPING=1") }
        lifetime.onHangUp = {
            manager.notify(
                "RELOADING=1", "MONOTONIC_USEC=\(ServiceManager.monotonicMicroseconds)")
            await reload.run()
            manager.notify("READY=1")
        }
        let warnings = await proxy.graph.warnings
        if log.choice.isJSON {
            log.logStart(configuration, proxy, warnings)
        } else {
            welcome(configuration, proxy, warnings)
        }
        // The manager may send a signal from now on, and each is trapped.
        manager.notify("READY=1")
        try await lifetime.run()
        await proxy.close()
    }

    /// Which users get which stores of another backend.
    private func takeovers() throws -> [StoreTakeover] {
        try identity.map { text in
            guard let takeover = StoreTakeover(text) else {
                throw StartProblem(
                    "--identity is \"\(text)\", but must be STORE=USER: a store as `understudy "
                        + "identities` names it, and the id of its user at this backend.")
            }
            return takeover
        }
    }

    /// The texts of the flags, by the names of their settings.
    var flags: [String: [String]] {
        [backend.flags, backendConnection.flags, options.flags].reduce(into: [:]) {
            $0.merge($1) { $1 }
        }
    }

    /// The sources of the settings; each call reads the file.
    private func sources() throws(StartProblem) -> Sources {
        Sources(
            flags: flags, environment: ThisProcess.environment,
            file: try ConfigurationFile.load(
                flag: config, environment: ThisProcess.environment, for: ServeFile.kind))
    }

    private func welcome(
        _ configuration: ServeConfiguration, _ proxy: RunningProxy, _ warnings: [String]
    ) {
        ThisProcess.say(
            "Understudy stands in for \(configuration.proxy.backend) at http://\(proxy.address)")
        if ThisProcess.isOutputKept {
            let folder = configuration.proxy.folder.path
            ThisProcess.say(
                "Dashboard: run \(TypedCommand(words: ["open", "--data", folder]))")
        } else {
            ThisProcess.say("Dashboard, signed in once, for 30 minutes: \(proxy.makeLink())")
        }
        ThisProcess.say("Stores are kept by SQLite \(Store.sqliteVersion).")
        for warning in warnings { ThisProcess.say(warning) }
    }
}

/// The options on the backend that `serve` stands in for.
struct BackendChoiceOptions: SettingOptions {
    @Option(Settings.backend) var backend: String?
    @Option(Settings.backendGeneration) var backendGeneration: String?
    @Option(Settings.applicationKeyFile) var applicationKeyFile: String?
}

extension ProcessLog {
    /// The lines of a start as events.
    fileprivate func logStart(
        _ configuration: ServeConfiguration, _ proxy: RunningProxy, _ warnings: [String]
    ) {
        logger.notice(
            "understudy serves",
            metadata: [
                "backend": "\(configuration.proxy.backend)", "clients": "http://\(proxy.address)",
                "dashboard": "http://\(proxy.dashboard)/-/",
                "data": "\(configuration.proxy.folder.path)", "version": "\(Version.text)",
                "sqlite": "\(Store.sqliteVersion)",
            ])
        for warning in warnings {
            logger.warning(
                "a setting or store needs attention", metadata: ["warning": "\(warning)"])
        }
    }
}
