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

    /// Starts without changes.
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
                if case .offline = mode { current?.cancel.set() }
                isProven = false
            }
            scheduler.apply(change, now: clock.uptime())
        }
        if case .offline = scheduler.mode { await endRequestedRuns() }
        signal.setWakesOnWrites(scheduler.settings.triggers.contains(.afterWrites))
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
