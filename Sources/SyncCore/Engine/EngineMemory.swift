import TablesProtocol

/// The state of an engine that is not in its store. It is kept while the store is closed, for the next
/// engine on the same store.
public struct EngineMemory: Sendable {
    var scheduler: Scheduler
    var generation: Generation?
    var lastSync: Instant?
    var warnings: [String] = []
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

extension SyncEngine {
    /// The initial state for the engine of another identity: this engine's settings and mode, without its
    /// knowledge of the backend.
    public var initialMemory: EngineMemory {
        var scheduler = Scheduler(
            settings: scheduler.settings, url: scheduler.backend.url, now: clock.uptime(),
            wall: clock.now())
        scheduler.takeMode(of: self.scheduler, now: clock.uptime())
        return EngineMemory(scheduler: scheduler, appliedChanges: appliedChanges)
    }

    /// Ends the engine if it is idle: no run is in flight, requested or about to begin. Its loop then
    /// starts no further run.
    /// - Parameter isForced: whether to end it also if a run is about to begin, because its loop does not
    ///   run.
    /// - Returns: the engine's state; nil if it is not idle and continues.
    public func retire(isForced: Bool = false) -> EngineMemory? {
        // Takes the pending wake causes into the schedule, so that a sign-in is not lost with the loop.
        takeCauses()
        guard current == nil, liveCount == 0, announcedRuns.isEmpty, waiters.isEmpty,
            endingRuns == 0,
            isForced || scheduler.isIdle(now: clock.uptime())
        else { return nil }
        isRetired = true
        followSignal.send(nil)
        return EngineMemory(
            scheduler: scheduler, generation: knownGeneration, lastSync: lastSync,
            warnings: warnings, finished: finished, stalls: stalls,
            appliedChanges: appliedChanges)
    }

    /// Cancels ``retire(isForced:)``, because the store stays open.
    public func resume() { isRetired = false }
}

extension Scheduler {
    /// Whether nothing is about to happen without an explicit request.
    func isIdle(now: Duration) -> Bool {
        if case .offline = mode { return true }
        guard wishes.isEmpty, !mustProbe else { return false }
        guard isAutomatic else { return true }
        switch link {
        case .down(_, _, let probe), .signedOut(let probe): return now < probe
        case .open, .up: return pushAt == nil && (syncAt.map { now < $0 } ?? true)
        }
    }

    /// How long until due operations may be pushed without an explicit request; zero for at once, nil for
    /// never.
    func untilPush(now: Duration) -> Duration? {
        guard settings.triggers.contains(.afterWrites), case .online = mode else { return nil }
        switch link {
        case .down(_, _, let probe), .signedOut(let probe): return max(probe - now, .zero)
        case .open, .up: return .zero
        }
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

extension SyncEngine {
    /// Applies the changes that the engine has not applied yet.
    /// - Returns: whether there were any.
    @discardableResult
    public func apply(_ all: SettingsForAll) async -> Bool {
        let missed = all.changes(after: appliedChanges)
        if missed.isEmpty { return false }
        appliedChanges = all.number
        for change in missed {
            if case .mode(let mode, _) = change {
                if case .offline = mode { cancelRequests() }
                isProven = false
            }
            scheduler.apply(change, now: clock.uptime())
        }
        if case .offline = scheduler.mode { await endRequestedRuns() }
        applyToStore(scheduler.settings)
        await announceStatus()
        wake()
        return true
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
