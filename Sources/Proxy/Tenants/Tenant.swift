import SyncCore
import Synchronization
import TablesProtocol

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
    let use = TableUse()
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

    var isRunning: Bool { task.withLock { $0 != nil } }

    /// Starts the task; a second call does nothing.
    func start(_ engine: SyncEngine) {
        task.withLock { task in
            if task == nil { task = Self.task(engine) }
        }
    }

    /// Starts the task again after ``end()``.
    func restart(_ engine: SyncEngine) {
        task.withLock { $0 = Self.task(engine) }
    }

    private static func task(_ engine: SyncEngine) -> Task<Void, Never> {
        Task {
            await withDiscardingTaskGroup { group in
                group.addTask { await engine.run() }
                group.addTask { await engine.followChanges() }
            }
        }
    }

    /// Cancels the task and waits for its end. A running commit is finished first.
    func end() async {
        let task = task.withLock { $0 }
        task?.cancel()
        await task?.value
    }
}

/// The state of the backend for callers that cannot wait for the engine. Every answer of `/tables` reports
/// it.
final class BackendStatusCache: Sendable {
    private struct Flags: OptionSet, AtomicRepresentable {
        let rawValue: UInt8
        static let online = Flags(rawValue: 1)
        static let worthAsking = Flags(rawValue: 2)
        static let signedOut = Flags(rawValue: 4)
        static let switchedOff = Flags(rawValue: 8)
        static let readsThrough = Flags(rawValue: 16)
        static let away = Flags(rawValue: 32)
        static let answers = Flags(rawValue: 64)
        static let sendsWrites = Flags(rawValue: 128)
    }

    enum Reach: Sendable, Hashable, CaseIterable {
        case reachable
        case away
        /// Not known: the backend was not asked since the start, or has not answered yet.
        case unasked
    }

    // Atomic instead of a lock, since every answer of every worker reads it.
    private let flags = Atomic<Flags>([.worthAsking, .readsThrough, .sendsWrites])
    private let refreshes = Atomic<Int>(0)
    /// A refresh by number, with the backend's generation.
    private struct Refresh {
        var number = 0
        var generation: Generation?
    }
    private let latest = Mutex(Refresh())
    private let signInNeeds = Mutex<[TableName: Bool]>([:])

    /// Begins a refresh from the engine; several may run at once. A refresh for a change begins after the
    /// change, so the refresh that began last has the change.
    /// - Returns: its number.
    func beginRefresh() -> Int {
        refreshes.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
    }

    /// Stores the engine's state, unless that of a later refresh was stored.
    /// - Parameters:
    ///   - generation: the backend's generation; nil if it is not known.
    ///   - refresh: the number of the refresh.
    func show(
        _ backend: BackendStatus, mode: EngineStatus.Mode, _ settings: SyncSettings,
        generation: Generation?, refresh: Int
    ) {
        let isReachable: Bool
        // An offline backend without a next try was not asked yet, so it may be asked. A backend that
        // requires a sign-in may give rows of other tables.
        let isWorthAsking: Bool
        switch backend.state {
        case .online, .degraded: (isReachable, isWorthAsking) = (true, true)
        case .offline: (isReachable, isWorthAsking) = (false, backend.nextTry == nil)
        case .signedOut: (isReachable, isWorthAsking) = (false, true)
        // A backend without one table may have another.
        case .notTables: (isReachable, isWorthAsking) = (false, true)
        case .portal: (isReachable, isWorthAsking) = (false, backend.nextTry == nil)
        }
        let isAllowed = mode == .online
        var now: Flags = []
        switch backend.state {
        case .online, .degraded, .signedOut, .notTables: if isAllowed { now.insert(.answers) }
        case .offline, .portal: if backend.nextTry != nil { now.insert(.away) }
        }
        if !isAllowed { now.insert(.away) }
        if isAllowed && isReachable { now.insert(.online) }
        if isAllowed && isWorthAsking { now.insert(.worthAsking) }
        if backend.state == .signedOut { now.insert(.signedOut) }
        if !isAllowed { now.insert(.switchedOff) }
        if settings.triggers.contains(.read) { now.insert(.readsThrough) }
        if settings.triggers.contains(.afterWrites) { now.insert(.sendsWrites) }
        latest.withLock { latest in
            guard refresh > latest.number else { return }
            latest = Refresh(number: refresh, generation: generation)
            flags.store(now, ordering: .releasing)
        }
    }

    private func has(_ marks: Flags) -> Bool {
        flags.load(ordering: .acquiring).isSuperset(of: marks)
    }

    var isOnline: Bool { has(.online) }

    /// Whether the backend can be reached. An engine without a token is `signedOut` only because it has no
    /// token; the anonymous engine needs none.
    var reach: Reach {
        if has(.away) { return .away }
        return has(.answers) ? .reachable : .unasked
    }

    /// The backend's generation; nil while it is not known.
    var generation: Generation? { latest.withLock { $0.generation } }

    /// Whether a person has switched to offline mode.
    var isSwitchedOff: Bool { has(.switchedOff) }

    var isSignedOut: Bool { has(.signedOut) }

    /// Whether a table requires a sign-in by the backend's last answer; nil without one.
    func needsSignIn(_ table: TableName) -> Bool? { signInNeeds.withLock { $0[table] } }

    /// Records whether a table requires a sign-in. At most ``Limits/signInNotes`` tables are kept, in memory.
    func note(_ table: TableName, needsSignIn: Bool) {
        signInNeeds.withLock { signInNeeds in
            if signInNeeds.count >= Limits.signInNotes { signInNeeds = [:] }
            signInNeeds[table] = needsSignIn
        }
    }

    /// Whether a request may be sent to the backend.
    var mayAsk: Bool { has(.worthAsking) }

    /// Whether a write is sent to the backend as soon as it is on disk.
    var sendsWrites: Bool { has([.worthAsking, .sendsWrites]) }

    /// Whether a read of a table that was never pulled may start a pull.
    var mayPullForRead: Bool { has([.worthAsking, .readsThrough]) }
}
