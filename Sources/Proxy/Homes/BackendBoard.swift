import SyncCore
import Synchronization

/// The state of the backend for readers that cannot wait for the engine: every answer of `/tables`
/// says it.
final class BackendBoard: Sendable {
    private struct Shown {
        var isOnline = false
        var isWorthAsking = true
        var readsThrough = true
    }

    private let shown = Mutex(Shown())

    /// Shows what the engine says.
    func show(_ backend: BackendStatus, mode: EngineStatus.Mode, _ settings: SyncSettings) {
        let isReachable: Bool
        // Without a next try it has not been asked yet, so nothing speaks against asking.
        let isUntried: Bool
        switch backend.state {
        case .online, .degraded: (isReachable, isUntried) = (true, false)
        case .offline: (isReachable, isUntried) = (false, backend.nextTry == nil)
        case .signedOut, .portal, .notTables: (isReachable, isUntried) = (false, false)
        }
        let isAllowed = mode == .online
        shown.withLock { shown in
            shown = Shown(
                isOnline: isAllowed && isReachable,
                isWorthAsking: isAllowed && (isReachable || isUntried),
                readsThrough: settings.triggers.contains(.read))
        }
    }

    /// Whether the backend can be reached, as far as is known.
    var isOnline: Bool { shown.withLock(\.isOnline) }

    /// Whether a read of a table that was never pulled may pull it now.
    var mayPullForRead: Bool { shown.withLock { $0.isWorthAsking && $0.readsThrough } }
}
