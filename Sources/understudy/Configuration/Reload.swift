import Logging
import Program
import Proxy
import SyncCore
import Synchronization

/// Reads the settings again while the process runs, and applies those that can change then.
actor Reload {
    private let graph: AppGraph
    private let folder: DataFolder
    private let log: ProcessLog
    private let rebind: Bool
    private let running: RunningSettings
    private let reading: @Sendable () throws(StartProblem) -> Sources
    /// The sources of the last start or reload.
    private var current: Sources

    /// The settings that a reload applies; the others change only at a start.
    static let reloadable: Set<String> = [
        Settings.sync.name, Settings.policy.name, Settings.parallelism.name,
        Settings.pageSize.name, Settings.keepHistory.name, Settings.keepAttempts.name,
        Settings.keepTombstones.name, Settings.historyBudget.name, Settings.attemptsBudget.name,
        Settings.allowHost.name, Settings.allowOrigin.name, Settings.tablesAccess.name,
        Settings.forwardHeader.name,
        Settings.logLevel.name, Settings.logFormat.name,
    ]

    /// - Parameters:
    ///   - graph: the proxy whose settings change.
    ///   - folder: its data folder.
    ///   - current: the sources of the start.
    ///   - running: gets what was applied.
    ///   - reading: reads the sources again.
    init(
        graph: AppGraph, folder: DataFolder, log: ProcessLog, current: Sources,
        running: RunningSettings, rebind: Bool,
        reading: @escaping @Sendable () throws(StartProblem) -> Sources
    ) {
        self.graph = graph
        self.folder = folder
        self.log = log
        self.current = current
        self.running = running
        self.rebind = rebind
        self.reading = reading
    }

    /// Applies the changed settings, and logs those that were applied and those that need a restart. If a
    /// value is invalid, nothing changes.
    func run() async {
        do {
            let sources = try reading()
            let configuration = try ServeConfiguration(sources, rebind: rebind)
            let logging = try ProcessLog.Choice(sources)
            let changed = ServeSetting.all.filter { setting in
                current.texts(setting) != sources.texts(setting)
            }.map(\.name)
            if changed.contains(Settings.policy.name) {
                try await changePolicies(to: configuration)
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
            let kept = [
                Settings.keepHistory.name, Settings.keepAttempts.name,
                Settings.keepTombstones.name, Settings.historyBudget.name,
                Settings.attemptsBudget.name,
            ]
            if changed.contains(where: kept.contains) {
                try await graph.changeSettings { $0.retention = configuration.proxy.retention }
            }
            graph.replace(
                rules: configuration.proxy.rules,
                forwardedHeaders: configuration.proxy.forwardedHeaders)
            log.choice = logging
            current = sources
            running.reload(sources)
            logReload(changed)
        } catch {
            log.logger.error("configuration not reloaded", metadata: ["problem": "\(error)"])
        }
    }

    /// Applies the named policies, and takes back those that the last start or reload named and this one does
    /// not.
    private func changePolicies(to configuration: ServeConfiguration) async throws {
        let policies = configuration.proxy.policies
        let notTakenBack = try await graph.withdraw(
            try folder.configuredPolicies(), except: policies)
        let left = max(try await graph.change(policies), notTakenBack)
        try folder.keep(configuredPolicies: configuration.policyTexts)
        if left == 0 { return }
        log.logger.warning(
            "some stores could not be opened; they take the policies in when they can",
            metadata: ["stores": "\(left)"])
    }

    private func logReload(_ changed: [String]) {
        let waiting = changed.filter { !Self.reloadable.contains($0) }
        log.logger.notice(
            "configuration reloaded",
            metadata: [
                "changed": "\(changed.filter(Self.reloadable.contains).joined(separator: " "))",
                "waitsForRestart": "\(waiting.joined(separator: " "))",
            ])
    }
}

/// The settings that hold in this process: those of its start, and of a reload those that a reload applies.
final class RunningSettings: Sendable {
    private let held: Mutex<[ProcessReport.Setting]>

    /// - Parameter sources: those of the start.
    init(_ sources: Sources) { held = Mutex(Self.settings(sources) { _ in true }) }

    /// Those that do not have their default, in the order of the configuration file.
    var all: [ProcessReport.Setting] { held.withLock { $0 } }

    /// Takes those of a reload that it has applied.
    func reload(_ sources: Sources) {
        let new = Self.settings(sources) { Reload.reloadable.contains($0) }
        held.withLock { held in
            let old = held.filter { !Reload.reloadable.contains($0.name) }
            held = ServeSetting.all.compactMap { setting in
                (old + new).first { $0.name == setting.name }
            }
        }
    }

    private static func settings(
        _ sources: Sources, where isWanted: (String) -> Bool
    ) -> [ProcessReport.Setting] {
        ServeSetting.all.compactMap { setting in
            let said = isWanted(setting.name) ? sources.statements(setting) : []
            if said.isEmpty { return nil }
            return ProcessReport.Setting(
                name: setting.name, values: said.map { Redaction.withoutCredentials($0.text) },
                origins: said.map(\.place))
        }
    }
}

extension ProcessLog {
    /// What the operator API says of this process.
    func report(_ settings: RunningSettings) -> ProcessReport {
        ProcessReport(
            settings: { settings.all }, libraries: ProcessReport.Library.shared,
            log: { [tail] in tail.lines })
    }
}
