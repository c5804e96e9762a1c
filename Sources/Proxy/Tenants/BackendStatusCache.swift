import SyncCore
import Synchronization
import TablesProtocol

/// The state of the backend for readers that cannot wait for the engine: every answer of `/tables`
/// says it.
final class BackendStatusCache: Sendable {
    private struct Shown: OptionSet, AtomicRepresentable {
        let rawValue: UInt8
        static let online = Shown(rawValue: 1)
        static let worthAsking = Shown(rawValue: 2)
        static let signedOut = Shown(rawValue: 4)
        static let switchedOff = Shown(rawValue: 8)
        static let readsThrough = Shown(rawValue: 16)
        static let away = Shown(rawValue: 32)
        static let answers = Shown(rawValue: 64)
    }

    /// Whether the backend can be reached, as far as is known.
    enum Reach: Sendable, Hashable, CaseIterable {
        case reachable
        case away
        /// It was not asked yet, or it has not answered since.
        case unasked
    }

    // Without a lock, since every answer of every worker asks.
    private let shown = Atomic<Shown>([.worthAsking, .readsThrough])
    private let refreshes = Atomic<Int>(0)
    /// A refresh from the engine, and the generation that it found.
    private struct Refresh {
        var number = 0
        var generation: Generation?
    }
    /// The latest refresh that is shown.
    private let latest = Mutex(Refresh())
    private let wanting = Mutex<[TableName: Bool]>([:])

    /// Begins a refresh from the engine, which takes turns with others. One that follows a change begins
    /// after the change, so that the refresh that began last has seen it.
    /// - Returns: its number.
    func beginRefresh() -> Int {
        refreshes.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
    }

    /// Shows what the engine says, unless a refresh that began later is shown already.
    /// - Parameters:
    ///   - generation: what the backend is known to be.
    ///   - refresh: the number of the refresh.
    func show(
        _ backend: BackendStatus, mode: EngineStatus.Mode, _ settings: SyncSettings,
        generation: Generation?, refresh: Int
    ) {
        let isReachable: Bool
        // Without a next try it has not been asked yet, so it may be asked. One that asks for a sign-in
        // answers, for other tables perhaps with rows.
        let isWorthIt: Bool
        switch backend.state {
        case .online, .degraded: (isReachable, isWorthIt) = (true, true)
        case .offline: (isReachable, isWorthIt) = (false, backend.nextTry == nil)
        case .signedOut: (isReachable, isWorthIt) = (false, true)
        // What is no table of one name may be one of another.
        case .notTables: (isReachable, isWorthIt) = (false, true)
        case .portal: (isReachable, isWorthIt) = (false, backend.nextTry == nil)
        }
        let isAllowed = mode == .online
        var now: Shown = []
        switch backend.state {
        case .online, .degraded, .signedOut, .notTables: if isAllowed { now.insert(.answers) }
        case .offline, .portal: if backend.nextTry != nil { now.insert(.away) }
        }
        if !isAllowed { now.insert(.away) }
        if isAllowed && isReachable { now.insert(.online) }
        if isAllowed && isWorthIt { now.insert(.worthAsking) }
        if backend.state == .signedOut { now.insert(.signedOut) }
        if !isAllowed { now.insert(.switchedOff) }
        if settings.triggers.contains(.read) { now.insert(.readsThrough) }
        latest.withLock { latest in
            guard refresh > latest.number else { return }
            latest = Refresh(number: refresh, generation: generation)
            shown.store(now, ordering: .releasing)
        }
    }

    private func shows(_ marks: Shown) -> Bool {
        shown.load(ordering: .acquiring).isSuperset(of: marks)
    }

    /// Whether the backend can be reached, as far as is known.
    var isOnline: Bool { shows(.online) }

    /// Whether the backend can be reached. Of an engine without a token, `signedOut` says only that the
    /// token is missing; that of the anonymous identity has none to miss.
    var reach: Reach {
        if shows(.away) { return .away }
        return shows(.answers) ? .reachable : .unasked
    }

    /// The generation that the backend is known to be; nil until it was found out.
    var generation: Generation? { latest.withLock { $0.generation } }

    /// Whether a person has switched the backend off.
    var isSwitchedOff: Bool { shows(.switchedOff) }

    /// Whether the backend waits for a sign-in.
    var isSignedOut: Bool { shows(.signedOut) }

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
    var mayAsk: Bool { shows(.worthAsking) }

    /// Whether a read of a table that was never pulled may pull it now.
    var mayPullForRead: Bool { shows([.worthAsking, .readsThrough]) }
}
