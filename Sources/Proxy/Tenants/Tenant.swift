import SyncCore
import Synchronization

/// One identity with its open store and its engine.
struct Tenant: Sendable {
    /// The key of the identity, such as `anonymous`.
    let identity: String
    let store: Store
    let engine: SyncEngine
    /// The engine's last state of the backend.
    let backendStatus: BackendStatusCache
    /// The tokens of the engine; nil for `anonymous`, which has none.
    let signIn: SignIn?
    /// Keeps the store open while a copy of this value exists; nil for `anonymous`, whose store is always
    /// open.
    var lease: StoreLease?
}

/// A use of an open store. The store is not closed while the lease exists.
final class StoreLease: Sendable {
    private let end: @Sendable () -> Void

    /// - Parameter end: called once, from any thread, when the use ends.
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}

/// The state of an identity in memory, whether its store is open or not.
struct TenantState: Sendable {
    let backendStatus: BackendStatusCache
    /// The tokens, which are in memory only, so they must survive the closing of the store.
    let signIn: SignIn
    /// The engine's memory from the closing of its store; nil before the first closing, and while it is open.
    var memory: EngineMemory?
    /// The uptime at which its due work was last sent.
    var servedAt: Duration?
    /// Whether the store was opened since the start, so that the configured policies are in it.
    var isPrepared = false
}

extension Tenant {
    /// Copies the engine's state of the backend to ``backendStatus``.
    func refreshBackendStatus() async {
        let refresh = backendStatus.beginRefresh()
        backendStatus.show(
            await engine.backendStatus, mode: await engine.mode, await engine.settings,
            generation: await engine.knownGeneration, refresh: refresh)
    }

    /// Adds a token of the identity. With a new token to send, the engine continues with what waited for a
    /// sign-in.
    /// - Parameter isFresh: whether the backend has just accepted it. Otherwise it is used when the later
    ///   ones are refused or expired.
    func signedIn(_ token: Token, isFresh: Bool) {
        if signIn?.take(token, isVerified: isFresh) == true { engine.nudge(.signedIn) }
    }
}

/// The task of an engine's loop, until its store is closed.
///
/// The task is unstructured, since no function runs as long as a store is open. `TenantRegistry` awaits
/// ``end()`` before it closes the store, and when its own loop ends. It restarts a loop only after that.
final class EngineLoop: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Whether the task was started.
    var isRunning: Bool { task.withLock { $0 != nil } }

    /// Starts the task; a second call does nothing.
    func start(_ engine: SyncEngine) {
        task.withLock { task in
            if task == nil { task = Task { await engine.run() } }
        }
    }

    /// Starts the task again after ``end()``.
    func restart(_ engine: SyncEngine) {
        task.withLock { $0 = Task { await engine.run() } }
    }

    /// Cancels the task and waits for its end. A running commit is finished first.
    func end() async {
        let task = task.withLock { $0 }
        task?.cancel()
        await task?.value
    }
}
