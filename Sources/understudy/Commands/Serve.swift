import ArgumentParser
import Logging
import Platform
import Program
import Proxy
import SyncCore
import TablesProtocol

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
        let lock = try configuration.proxy.folder.open { log.logger.warning("\($0)") }
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
            services: proxy.services + [.loop { await report.run() }])
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
        await lifetime.run()
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

/// The options that `serve` and `demo` share. Each can be set as an environment variable too:
/// `--allow-host` is `UNDERSTUDY_ALLOW_HOST`; the flag wins.
///
/// They are one group, since ArgumentParser validates a group within a group again for each level.
struct ServeOptions: SettingOptions {
    @Option(Settings.listen) var listen: String?
    @Option(Settings.data, completion: .directory) var data: String?
    @Option(Settings.sync, completion: .words(of: SyncChoice.self)) var sync: String?
    @Option(Settings.checkCopies) var checkCopies: String?
    @Option(Settings.table) var table: [String] = []
    @Option(Settings.trustTable) var trustTable: [String] = []
    @Option(Settings.policy) var policy: [String] = []
    @Option(Settings.apiSync) var apiSync: String?
    @Option(Settings.allowHost) var allowHost: [String] = []
    @Option(Settings.allowOrigin) var allowOrigin: [String] = []
    @Option(Settings.forwardHeader) var forwardHeader: [String] = []
    @Option(Settings.defaultGeneration) var defaultGeneration: String?
    @Option(Settings.logLevel) var logLevel: String?
    @Option(Settings.logFormat, completion: .words(of: LogFormat.self)) var logFormat: String?
    @Option(Settings.parallelism) var parallelism: String?
    @Option(Settings.pageSize) var pageSize: String?
    @Flag(Settings.strictSDK) var strictSdk: Bool?
    @Option(Settings.dashboardListen) var dashboardListen: String?
    @Option(Settings.socket) var socket: String?
    @Option(Settings.tablesAccess) var tablesAccess: String?
    @Option(Settings.adoptUnsigned) var adoptUnsigned: String?
    @Option(Settings.offlineGrace) var offlineGrace: String?
    @Option(Settings.diskBudget) var diskBudget: String?
    @Option(Settings.keepHistory) var keepHistory: String?
    @Option(Settings.keepAttempts) var keepAttempts: String?
    @Option(Settings.keepTombstones) var keepTombstones: String?
    @Option(Settings.historyBudget) var historyBudget: String?
    @Option(Settings.attemptsBudget) var attemptsBudget: String?
    @Option(Settings.backupEvery) var backupEvery: String?
    @Option(Settings.backupKeep) var backupKeep: String?
    @Option(Settings.backupFolder, completion: .directory) var backupFolder: String?
    @Option(Settings.notify) var notify: String?

    @Flag(help: "Take this backend for a data folder that belongs to another one.")
    var rebind = false
}

/// Reports the state to the service manager and the log: a status line when it changes, and `WATCHDOG=1`
/// while every engine runs.
struct ServiceReport {
    let graph: AppGraph
    let manager: ServiceManager
    let log: Logger

    /// Reports until cancelled:
    ///
    /// 1. Ask every engine for its state. An engine that does not answer delays the report, and with it the
    ///    watchdog's message.
    /// 2. Log a changed state of the backend, for each identity.
    /// 3. Send a changed status line to the manager.
    /// 4. If all engines run, send `WATCHDOG=1` to the manager.
    func run() async {
        var states: [String: BackendState] = [:]
        var lastLine = ""
        while !Task.isCancelled {
            let health = await graph.health()
            for status in health.engines
            where Self.isNews(status.backend, of: status.identity, in: &states) { note(status) }
            let line = Self.line(
                health.engines.map(\.queue) + [health.closedQueue], health.engines.first?.backend)
            if line != lastLine { manager.notify("STATUS=\(line)") }
            lastLine = line
            if health.allEnginesRun { manager.notify("WATCHDOG=1") }
            try? await Task.sleep(for: interval)
        }
    }

    /// Whether the backend has another state than was last reported. The first state is news too, once the
    /// backend was asked.
    static func isNews(
        _ backend: BackendStatus, of identity: String,
        in states: inout [String: BackendState]
    ) -> Bool {
        guard backend.isAsked else { return false }
        return states.updateValue(backend.state, forKey: identity) != backend.state
    }

    private func note(_ status: EngineStatus) {
        log.notice(
            "backend state changed",
            metadata: [
                "identity": "\(status.identity)", "state": "\(status.backend.state.rawValue)",
                "reason": "\(status.backend.reason)",
            ])
    }

    /// The time between two reports: at most a third of the time that the manager waits for a message.
    private var interval: Duration {
        let longest = Duration.seconds(Limits.serviceReportSeconds)
        guard let watchdog = manager.watchdogMicroseconds else { return longest }
        return min(longest, .microseconds(Int64(clamping: watchdog / 3)))
    }

    /// Such as `12 pending, 1 conflict, offline since 2026-11-21T12:00:00.000Z`.
    static func line(_ queues: [QueueCounts], _ backend: BackendStatus?) -> String {
        let pending = queues.reduce(0) { $0 + $1.queued + $1.waiting + $1.sending + $1.unknown }
        let conflicts = queues.reduce(0) { $0 + $1.conflict }
        let quarantined = queues.reduce(0) { $0 + $1.quarantined }
        var parts = ["\(pending) pending"]
        if conflicts > 0 { parts.append("\(conflicts) conflict\(conflicts == 1 ? "" : "s")") }
        if quarantined > 0 { parts.append("\(quarantined) refused") }
        if let backend {
            parts.append(
                backend.isAsked
                    ? "backend \(backend.state.rawValue) since \(backend.since.text)"
                    : "backend not asked yet")
        }
        return parts.joined(separator: ", ")
    }
}
