import TablesProtocol

/// The state of an engine that is not in its store. It is kept while the store is closed, for the next
/// engine on the same store.
public struct EngineMemory: Sendable {
    var scheduler: Scheduler
    /// The backend's generation, if it was found.
    var generation: Generation?
    /// When the last sync ended that pulled every table.
    var lastSync: Instant?
    var warnings: [String] = []
    /// The latest finished runs, oldest first.
    var finished: [Run] = []
    /// How often the loop stalled and was restarted.
    public internal(set) var stalls = 0
    /// The number of the last change for all identities that was applied (``SettingsForAll``).
    var appliedChanges = 0

    public var settings: SyncSettings { scheduler.settings }

    /// How long the engine must wait before it may push: the backend is out of reach, or asks for a
    /// sign-in. Zero: it may push at once. Nil: it does not push by itself, because writes start no push or
    /// offline mode is on.
    public func untilPush(now: Duration) -> Duration? { scheduler.untilPush(now: now) }
}

extension Scheduler {
    /// Whether nothing is about to happen without an explicit request.
    func isIdle(now: Duration) -> Bool {
        if case .offline = mode { return true }
        guard wishes.isEmpty, !mustProbe else { return false }
        guard isAutomatic else { return true }
        if let nextProbe { return now < nextProbe }
        return pushAt == nil && (syncAt.map { now < $0 } ?? true)
    }

    /// How long until due operations may be pushed without an explicit request; zero for at once, nil for
    /// never.
    func untilPush(now: Duration) -> Duration? {
        guard settings.triggers.contains(.afterWrites), case .online = mode else { return nil }
        return nextProbe.map { max($0 - now, .zero) } ?? .zero
    }

    /// Takes over the mode of another scheduler, and when it ends.
    mutating func takeMode(of other: Scheduler, now: Duration) {
        (mode, modeEnd) = (other.mode, other.modeEnd)
        reachability.become(reach, now: now)
    }
}

/// The operator's changes for all identities since the start, in order and numbered.
///
/// Each engine, and each ``EngineMemory`` of a closed store, stores the number of the last change that it
/// applied, and applies the later ones. So a store that is being opened or closed misses no change, applies
/// none twice, and applies them in order.
public struct SettingsForAll: Sendable {
    public enum Change: Sendable {
        /// The backend's mode. `until` is the uptime at which an offline mode ends; nil if it has no end.
        case mode(EngineStatus.Mode, until: Duration?)
        /// A change of each identity's own settings.
        case settings(@Sendable (SyncSettings) -> SyncSettings)
    }

    /// The number of changes so far.
    public private(set) var number = 0
    private var changes: [Change] = []

    public init() {}

    /// Adds a change. Only the latest ``SyncLimits/changesForAll`` are kept: a memory applies a change at
    /// once, so only a store that is being opened or closed applies changes later.
    public mutating func add(_ change: Change) {
        number += 1
        changes.append(change)
        if changes.count > SyncLimits.changesForAll { changes.removeFirst() }
    }

    func changes(after number: Int) -> ArraySlice<Change> {
        changes.suffix(max(self.number - number, 0))
    }
}

extension EngineMemory {
    /// Applies the changes that the memory has not applied yet.
    public mutating func apply(_ all: SettingsForAll, now: Duration) {
        for change in all.changes(after: appliedChanges) { scheduler.apply(change, now: now) }
        appliedChanges = max(appliedChanges, all.number)
    }
}

extension Scheduler {
    mutating func apply(_ change: SettingsForAll.Change, now: Duration) {
        switch change {
        case .mode(let mode, let end): setMode(mode, until: end, now: now)
        case .settings(let change): set(change(settings), now: now)
        }
    }
}
