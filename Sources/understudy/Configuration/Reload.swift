import Logging
import Platform
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
            }
            for setting in changed {
                switch setting.reload {
                case .never, .replaced: break
                case .policies: try await changePolicies(to: configuration)
                case .engines(let change):
                    try await graph.changeSettings { change(&$0, configuration.proxy.sync) }
                }
            }
            graph.replace(
                rules: configuration.proxy.rules,
                forwardedHeaders: configuration.proxy.forwardedHeaders)
            await graph.replace(webhook: configuration.proxy.webhook)
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

    private func logReload(_ changed: [ServeSetting]) {
        func names(_ settings: [ServeSetting]) -> Logger.MetadataValue {
            "\(settings.map(\.name).joined(separator: " "))"
        }
        log.logger.notice(
            "configuration reloaded",
            metadata: [
                "changed": names(changed.filter(\.isReloaded)),
                "waitsForRestart": names(changed.filter { !$0.isReloaded }),
            ])
    }
}

/// The settings that hold in this process: those of its start, and of a reload those that a reload applies.
final class RunningSettings: Sendable {
    private let held: Mutex<[ProcessReport.Setting]>

    /// - Parameter sources: those of the start.
    init(_ sources: Sources) { held = Mutex(Self.settings(ServeSetting.all, sources)) }

    /// Those that do not have their default, in the order of the configuration file.
    var all: [ProcessReport.Setting] { held.withLock { $0 } }

    /// Takes those of a reload that it has applied.
    func reload(_ sources: Sources) {
        let reloaded = ServeSetting.all.filter(\.isReloaded)
        let new = Self.settings(reloaded, sources)
        held.withLock { held in
            let old = held.filter { one in !reloaded.contains { $0.name == one.name } }
            held = ServeSetting.all.compactMap { setting in
                (old + new).first { $0.name == setting.name }
            }
        }
    }

    private static func settings(
        _ settings: [ServeSetting], _ sources: Sources
    ) -> [ProcessReport.Setting] {
        settings.compactMap { setting in
            let said = sources.statements(setting)
            if said.isEmpty { return nil }
            return ProcessReport.Setting(
                name: setting.name, values: said.map { setting.shown($0.text) },
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
