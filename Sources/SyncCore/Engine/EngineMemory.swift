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

    /// The operator's settings.
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
        guard current == nil, announcedRuns.isEmpty, waiters.isEmpty, endingRuns == 0,
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
