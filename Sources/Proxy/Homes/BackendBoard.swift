import SyncCore
import Synchronization

/// The state of the backend for readers that cannot wait for the engine: every answer of `/tables`
/// says it.
final class BackendBoard: Sendable {
    private let shown: Mutex<(isOnline: Bool, readsThrough: Bool)> = Mutex((false, true))

    /// Shows what the engine says.
    func show(_ backend: BackendStatus, mode: EngineStatus.Mode, _ settings: SyncSettings) {
        let isReachable: Bool
        switch backend.state {
        case .online, .degraded: isReachable = true
        case .offline, .signedOut, .portal, .notTables: isReachable = false
        }
        let isOnline = isReachable && mode == .online
        shown.withLock { $0 = (isOnline, settings.triggers.contains(.read)) }
    }

    /// Whether the backend can be asked now.
    var isOnline: Bool { shown.withLock(\.isOnline) }

    /// Whether a read of a table that was never pulled may pull it.
    var readsThrough: Bool { shown.withLock(\.readsThrough) }
}
