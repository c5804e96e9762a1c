import TablesProtocol

/// What an engine knows that is in no store: kept while its store is closed, so that the engine that
/// opens it again goes on where this one ended.
public struct EngineMemory: Sendable {
    var scheduler: Scheduler
    var generation: Generation?
    var lastSync: Instant?
    var warnings: [String] = []
    var finished: [Run] = []
    var stalls = 0
    /// The number of the last change for all identities that is in it (``SettingsForAll``).
    var heard = 0

    /// What the operator has set.
    public var settings: SyncSettings { scheduler.settings }

    /// Until the engine may send what is due: the backend is out of reach, or asks for a sign-in, until
    /// then. Zero for at once, nil for not unasked.
    public func untilPush(now: Duration) -> Duration? { scheduler.untilPush(now: now) }
}

extension SyncEngine {
    /// What the engine of another identity begins with: the settings and the mode of this one, and
    /// nothing of what it knows about the backend.
    public var beginning: EngineMemory {
        var scheduler = Scheduler(
            settings: scheduler.settings, url: scheduler.backend.url, now: clock.uptime(),
            wall: clock.now())
        scheduler.takeMode(of: self.scheduler)
        return EngineMemory(scheduler: scheduler, heard: heard)
    }

    /// Ends the engine where it is at rest: no run is under way, wanted or about to begin. Its loop
    /// begins nothing any more.
    /// - Parameter isAsked: also where something is about to begin, since its loop does not run.
    /// - Returns: what it knows; nil where it is not at rest, and goes on.
    public func retire(isAsked: Bool = false) -> EngineMemory? {
        // What woke the loop and was not taken yet would be lost with it: a sign-in, say.
        takeCauses()
        guard current == nil, announcedRuns.isEmpty, waiters.isEmpty,
            isAsked || scheduler.isAtRest(now: clock.uptime())
        else { return nil }
        isRetired = true
        return EngineMemory(
            scheduler: scheduler, generation: knownGeneration, lastSync: lastSync,
            warnings: warnings, finished: finished, stalls: stalls,
            heard: heard)
    }

    /// Takes the retirement back: the store stays open.
    public func resume() { isRetired = false }
}

extension Scheduler {
    /// Whether nothing is about to happen unasked.
    func isAtRest(now: Duration) -> Bool {
        if case .offline = mode { return true }
        guard wishes.isEmpty, !isInDoubt else { return false }
        guard isAutomatic else { return true }
        switch link {
        case .down(_, let probe), .signedOut(let probe): return now < probe
        case .open, .up: return pushAt == nil && (syncAt.map { now < $0 } ?? true)
        }
    }

    /// Until what is due may be sent unasked; zero for at once, nil for not at all.
    func untilPush(now: Duration) -> Duration? {
        guard settings.triggers.contains(.afterWrites), case .online = mode else { return nil }
        switch link {
        case .down(_, let probe), .signedOut(let probe): return max(probe - now, .zero)
        case .open, .up: return .zero
        }
    }

    /// Takes over whether and how long the backend is switched off.
    mutating func takeMode(of other: Scheduler) { (mode, modeEnd) = (other.mode, other.modeEnd) }
}
