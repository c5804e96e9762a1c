import SyncCore
import Synchronization

/// What belongs to one identity while its store is open: the store, its engine, and what its requests
/// need to know of both without waiting.
struct Tenant: Sendable {
    /// Whose it is: `anonymous`, or the key of a user who signed in.
    let identity: String
    let store: Store
    let engine: SyncEngine
    /// How the backend stands, as last told by the engine.
    let backendStatus: BackendStatusCache
    /// The token that the engine sends; nil for `anonymous`, which never has one.
    let signIn: SignIn?
    /// Keeps the store open while a copy of this value exists; nil for `anonymous`, whose store is open
    /// all the time.
    var lease: StoreLease?
}

/// The right to use an open store: it is not closed while this exists.
final class StoreLease: Sendable {
    private let end: @Sendable () -> Void

    /// Makes a use.
    /// - Parameter end: told once, from any thread, when it is over.
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}

/// What is kept of an identity while the process lives, whether its store is open or not.
struct TenantState: Sendable {
    let backendStatus: BackendStatusCache
    /// Tokens live in memory only: they outlast the open store.
    let signIn: SignIn
    /// What the engine knew when its store was closed; nil before the first time, and while it is open.
    var memory: EngineMemory?
    /// Work that was due was last looked after then.
    var servedAt: Duration?
    /// The store was opened since the start: what the start says of its tables is in it.
    var isPrepared = false
}

extension Tenant {
    /// Shows on the backendStatus how the engine sees the backend.
    func refreshBackendStatus() async {
        let refresh = backendStatus.beginRefresh()
        backendStatus.show(
            await engine.backendStatus, mode: await engine.mode, await engine.settings,
            generation: await engine.knownGeneration, refresh: refresh)
    }

    /// Takes a token of the identity; when it is another one than before, what waited for a sign-in
    /// goes on.
    /// - Parameter isFresh: the backend has just taken it. One that merely came with a request is
    ///   used where the later ones are refused or expired.
    func signedIn(_ token: Token, isFresh: Bool) {
        if signIn?.take(token, isVerified: isFresh) == true { engine.nudge(.signedIn) }
    }
}

/// The task in which an engine runs, from when the services run until its store is closed.
///
/// The task is unstructured, since no function runs as long as a store is open. It ends all the same:
/// `TenantRegistry` awaits ``end()`` before it closes the store and when its services end, and restarts a
/// loop only after it has ended.
final class EngineLoop: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Whether it was started.
    var isRunning: Bool { task.withLock { $0 != nil } }

    /// Starts it, once.
    func start(_ engine: SyncEngine) {
        task.withLock { task in
            if task == nil { task = Task { await engine.run() } }
        }
    }

    /// Starts it anew after ``end()``.
    func restart(_ engine: SyncEngine) {
        task.withLock { $0 = Task { await engine.run() } }
    }

    /// Ends it: a commit under way is finished first.
    func end() async {
        let task = task.withLock { $0 }
        task?.cancel()
        await task?.value
    }
}
