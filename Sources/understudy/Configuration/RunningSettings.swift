import Proxy
import Synchronization

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
