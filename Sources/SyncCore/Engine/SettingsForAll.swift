/// What the operator has said to all identities since the start, in its order, with a number that grows.
///
/// Each engine, and each ``EngineMemory`` of a closed store, keeps the number of the last change that it has
/// taken in, and takes in those behind it. So a store that was being opened or closed when a change
/// came misses nothing, takes nothing in twice, and an older change never follows a later one.
public struct SettingsForAll: Sendable {
    /// A change that holds for every identity.
    public enum Change: Sendable {
        /// The backend is switched off, until then on the clock of the process where it has an end, or on.
        case mode(EngineStatus.Mode, until: Duration?)
        /// Each identity's own settings become others.
        case settings(@Sendable (SyncSettings) -> SyncSettings)
    }

    /// How many changes there were.
    public private(set) var number = 0
    private var changes: [Change] = []

    /// Begins with none.
    public init() {}

    /// Adds a change behind the others. The latest ``SyncLimits/changesForAll`` are kept: memories take a
    /// change in at once, so only what is being opened or closed has any to take in later.
    public mutating func add(_ change: Change) {
        number += 1
        changes.append(change)
        if changes.count > SyncLimits.changesForAll { changes.removeFirst() }
    }

    /// What came behind the change of that number.
    func missed(after number: Int) -> ArraySlice<Change> {
        changes.suffix(max(self.number - number, 0))
    }
}

extension EngineMemory {
    /// Takes in what was said to all since the number that the memory knows.
    public mutating func take(_ all: SettingsForAll, now: Duration) {
        for change in all.missed(after: heard) { scheduler.take(change, now: now) }
        heard = max(heard, all.number)
    }
}

extension SyncEngine {
    /// Takes in what was said to all since the number that the engine knows.
    /// - Returns: whether there was something.
    @discardableResult
    public func take(_ all: SettingsForAll) async -> Bool {
        let missed = all.missed(after: heard)
        if missed.isEmpty { return false }
        heard = all.number
        for change in missed {
            if case .mode(let mode, _) = change {
                if case .offline = mode { current?.cancel.set() }
                isProven = false
            }
            scheduler.take(change, now: clock.uptime())
        }
        signal.hear(writes: scheduler.settings.triggers.contains(.afterWrites))
        await announceStatus()
        signal.send(nil)
        return true
    }
}

extension Scheduler {
    /// Takes in what was said to all.
    mutating func take(_ change: SettingsForAll.Change, now: Duration) {
        switch change {
        case .mode(let mode, let end): setMode(mode, until: end, now: now)
        case .settings(let change): set(change(settings), now: now)
        }
    }
}
