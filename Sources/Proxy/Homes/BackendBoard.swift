import SyncCore
import Synchronization
import TablesProtocol

/// The state of the backend for readers that cannot wait for the engine: every answer of `/tables`
/// says it.
final class BackendBoard: Sendable {
    private struct Shown {
        var isOnline = false
        var isWorthAsking = true
        var isSignedOut = false
        var isSwitchedOff = false
        var readsThrough = true
        var generation: Generation?
    }

    private let shown = Mutex(Shown())
    private let wanting = Mutex<[TableName: Bool]>([:])

    /// Shows what the engine says.
    /// - Parameter generation: what the backend is known to be.
    func show(
        _ backend: BackendStatus, mode: EngineStatus.Mode, _ settings: SyncSettings,
        generation: Generation?
    ) {
        let isReachable: Bool
        // Without a next try it has not been asked yet, so nothing speaks against asking. One that
        // asks for a sign-in answers, for other tables perhaps with rows.
        let isWorthIt: Bool
        switch backend.state {
        case .online, .degraded: (isReachable, isWorthIt) = (true, true)
        case .offline: (isReachable, isWorthIt) = (false, backend.nextTry == nil)
        case .signedOut: (isReachable, isWorthIt) = (false, true)
        case .portal, .notTables: (isReachable, isWorthIt) = (false, false)
        }
        let isAllowed = mode == .online
        shown.withLock { shown in
            shown = Shown(
                isOnline: isAllowed && isReachable,
                isWorthAsking: isAllowed && isWorthIt,
                isSignedOut: backend.state == .signedOut,
                isSwitchedOff: !isAllowed, readsThrough: settings.triggers.contains(.read),
                generation: generation)
        }
    }

    /// Whether the backend can be reached, as far as is known.
    var isOnline: Bool { shown.withLock(\.isOnline) }

    /// The generation that the backend is known to be; nil until it was found out.
    var generation: Generation? { shown.withLock(\.generation) }

    /// Whether a person has switched the backend off.
    var isSwitchedOff: Bool { shown.withLock(\.isSwitchedOff) }

    /// Whether the backend waits for somebody to sign in.
    var isSignedOut: Bool { shown.withLock(\.isSignedOut) }

    /// Whether a table wants a sign-in, as the backend last said; nil when it was not asked.
    func needsSignIn(_ table: TableName) -> Bool? { wanting.withLock { $0[table] } }

    /// Notes what the backend says of a table without a token. It is kept for a bounded number of
    /// tables and forgotten with the process.
    func note(_ table: TableName, needsSignIn: Bool) {
        wanting.withLock { wanting in
            if wanting.count >= Limits.notedTables { wanting = [:] }
            wanting[table] = needsSignIn
        }
    }

    /// Whether a request may be sent to the backend, as far as is known.
    var mayAsk: Bool { shown.withLock(\.isWorthAsking) }

    /// Whether a read of a table that was never pulled may pull it now.
    var mayPullForRead: Bool { shown.withLock { $0.isWorthAsking && $0.readsThrough } }
}
