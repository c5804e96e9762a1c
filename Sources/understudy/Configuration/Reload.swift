import Logging
import Proxy
import SyncCore

/// Reads the settings again while the process runs, and takes over those that can change then.
actor Reload {
    private let graph: AppGraph
    private let log: ProcessLog
    private let rebind: Bool
    private let reading: @Sendable () throws(StartProblem) -> Sources
    /// What held at the last time.
    private var holding: Sources

    /// Settings that are taken over; all others hold until the next start.
    static let reloadable: Set<String> = [
        Settings.sync.name, Settings.policy.name, Settings.parallelism.name,
        Settings.pageSize.name,
        Settings.allowHost.name, Settings.allowOrigin.name, Settings.tablesAccess.name,
        Settings.forwardHeader.name,
        Settings.logLevel.name, Settings.logFormat.name,
    ]

    /// Makes a reload.
    /// - Parameters:
    ///   - graph: whose settings change.
    ///   - holding: the sources of the start.
    ///   - reading: reads them anew.
    init(
        graph: AppGraph, log: ProcessLog, holding: Sources, rebind: Bool,
        reading: @escaping @Sendable () throws(StartProblem) -> Sources
    ) {
        self.graph = graph
        self.log = log
        self.holding = holding
        self.rebind = rebind
        self.reading = reading
    }

    /// Takes over what can be, and logs both what was and what waits for a restart. Sources with a
    /// wrong value change nothing.
    func run() async {
        do {
            let sources = try reading()
            let configuration = try ServeConfiguration(sources, rebind: rebind)
            let logging = try ProcessLog.Choice(sources)
            let changed = ServeSetting.all.filter { setting in
                holding.texts(setting) != sources.texts(setting)
            }.map(\.name)
            if changed.contains(Settings.policy.name) {
                try await change(configuration.proxy.policies)
            }
            if changed.contains(Settings.sync.name) {
                try await graph.changeSettings { $0.triggers = configuration.proxy.triggers }
            }
            if changed.contains(Settings.parallelism.name) {
                try await graph.changeSettings { $0.parallelism = configuration.proxy.parallelism }
            }
            if changed.contains(Settings.pageSize.name) {
                try await graph.changeSettings { $0.pageRows = configuration.proxy.pageRows }
            }
            graph.replace(
                rules: configuration.proxy.rules,
                forwardedHeaders: configuration.proxy.forwardedHeaders)
            log.choice = logging
            holding = sources
            tell(changed)
        } catch {
            log.logger.error("configuration not reloaded", metadata: ["problem": "\(error)"])
        }
    }

    private func change(_ policies: [PolicySetting]) async throws {
        let left = try await graph.change(policies)
        if left == 0 { return }
        log.logger.warning(
            "some stores could not be opened; they take the policies in when they can",
            metadata: ["stores": "\(left)"])
    }

    private func tell(_ changed: [String]) {
        let waiting = changed.filter { !Self.reloadable.contains($0) }
        log.logger.notice(
            "configuration reloaded",
            metadata: [
                "changed": "\(changed.filter(Self.reloadable.contains).joined(separator: " "))",
                "waitsForRestart": "\(waiting.joined(separator: " "))",
            ])
    }
}
