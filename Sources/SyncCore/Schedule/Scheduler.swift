import TablesProtocol

/// When the engine does what. Pure: events go in with the time, the next step comes out; the engine
/// only carries it out. All waiting is in uptime, so that a jump of the wall clock moves nothing.
struct Scheduler: Sendable {
    /// What the engine shall do next.
    enum Step: Sendable, Hashable {
        case run(Wish)
        /// Ask the backend for a list, nothing else.
        case probe
        /// Wait for an event, or until then.
        case wait(until: Duration?)
    }

    /// A run that is wanted.
    enum Wish: Sendable, Hashable {
        case push
        case sync
        case pull(PullRequest)
    }

    /// What is known of the way to the backend.
    enum Link: Sendable, Hashable {
        /// Nothing was tried since the start, or since a change of address.
        case open
        case up
        case down(failures: Int, nextProbe: Duration)
        case signedOut(nextProbe: Duration)
    }

    /// What waits in the store.
    struct Outlook: Sendable, Hashable {
        /// Operations are due now.
        var hasDue = false
        /// Until the next waiting one is due.
        var untilNext: Duration?
    }

    var mode = EngineStatus.Mode.online
    /// When an offline mode ends, in uptime.
    var modeEnd: Duration?
    var settings: SyncSettings
    private(set) var link = Link.open
    /// What is told of the backend.
    private(set) var backend: BackendStatus
    var pushAt: Duration?
    private var quietSince: Duration?
    private(set) var syncAt: Duration?
    /// Something suggests that the backend is out of reach, which a probe tells.
    var isInDoubt = false
    /// The backend was out of reach, or a sign-in was waited for: what failed meanwhile is due as soon as
    /// the backend has given a list.
    private(set) var isHeldUp = false
    var wishes: [Wish] = []
    private var lastRead: [TableName: Duration] = [:]
    /// When the engine last got something done, or had nothing to do.
    private var lastProgress: Duration

    init(settings: SyncSettings, url: String, now: Duration, wall: Instant) {
        self.settings = settings
        lastProgress = now
        backend = BackendStatus(
            url: url, state: .offline, reason: "The backend has not been asked yet.", since: wall,
            isAsked: false)
        if settings.triggers.contains(.interval) { syncAt = now }
    }

    /// Whether anything happens unasked.
    var isAutomatic: Bool { settings.triggers != [.manual] && !settings.triggers.isEmpty }

    /// The next step. Asks for nothing while a run is under way.
    mutating func next(now: Duration, outlook: Outlook) -> Step {
        if case .offline = mode {
            guard let modeEnd, now >= modeEnd else {
                lastProgress = now
                return .wait(until: modeEnd)
            }
            setMode(.online, until: nil, now: now)
        }
        if isInDoubt {
            isInDoubt = false
            return .probe
        }
        if !wishes.isEmpty { return .run(wishes.removeFirst()) }
        guard isAutomatic else {
            lastProgress = now
            return .wait(until: nil)
        }
        if case .down(_, let probe) = link {
            return now >= probe ? .probe : .wait(until: probe)
        }
        if case .signedOut(let probe) = link {
            return now >= probe ? .probe : .wait(until: probe)
        }
        if let syncAt, now >= syncAt {
            self.syncAt = nextInterval(now)
            return .run(.sync)
        }
        return pushStep(now: now, outlook: outlook)
    }

    private mutating func pushStep(now: Duration, outlook: Outlook) -> Step {
        let isDue = outlook.hasDue && settings.triggers.contains(.afterWrites)
        if !isDue { lastProgress = now }
        if takesPush(now: now, outlook: outlook) { return .run(.push) }
        if !outlook.hasDue { pushAt = nil }
        let later = settings.triggers.contains(.afterWrites) ? outlook.untilNext : nil
        let times = [isDue ? pushAt : nil, syncAt, later.map { now + $0 }]
        return .wait(until: times.compactMap(\.self).min())
    }

    /// Whether what waits is to be pushed now; then it counts as taken up.
    mutating func takesPush(now: Duration, outlook: Outlook) -> Bool {
        guard isAutomatic, settings.triggers.contains(.afterWrites), outlook.hasDue,
            pushAt.map({ now >= $0 }) ?? true
        else { return false }
        pushAt = nil
        quietSince = nil
        return true
    }

    /// Whether the loop stands still: a run makes no progress for longer than any request may take,
    /// or, with the backend in reach, nothing touches work that is to be pushed unasked.
    func isStalled(now: Duration, outlook: Outlook, isRunning: Bool) -> Bool {
        guard isAutomatic, case .online = mode else { return false }
        let rest = now - lastProgress
        if isRunning {
            return rest > .seconds(SyncLimits.stallSeconds + SyncLimits.requestPatienceSeconds)
        }
        guard outlook.hasDue, settings.triggers.contains(.afterWrites) else { return false }
        switch link {
        case .down, .signedOut: return false
        case .open, .up: return rest > .seconds(SyncLimits.stallSeconds)
        }
    }

    // MARK: Events

    /// A local write or a person's action was committed, a client read, or a user signed in.
    mutating func wake(_ cause: WakeCause, now: Duration) {
        switch cause {
        case .write:
            guard settings.triggers.contains(.afterWrites) else { return }
            // Quiet is waited for, but not for ever.
            let first = quietSince ?? now
            quietSince = first
            pushAt = min(now + settings.debounce, first + settings.debounce * 10)
        case .action:
            pushAt = now
        case .read(let table):
            guard settings.triggers.contains(.read) else { return }
            let isFresh = lastRead[table].map { now - $0 < .seconds(SyncLimits.readGapSeconds) }
            guard isFresh != true else { return }
            lastRead[table] = nil
            if lastRead.count >= SyncLimits.readTables {
                lastRead = lastRead.filter { now - $0.value < .seconds(SyncLimits.readGapSeconds) }
            }
            guard lastRead.count < SyncLimits.readTables else { return }
            lastRead[table] = now
            wish(.pull(PullRequest(table: table)))
        case .reachable:
            if case .down(let failures, _) = link {
                link = .down(failures: failures, nextProbe: now)
            }
        case .unreachable:
            switch link {
            // One that asks for a sign-in answers.
            case .open, .up, .signedOut: isInDoubt = true
            case .down: break
            }
        case .signedIn:
            if case .signedOut = link {
                link = .open
                isHeldUp = true
                if isAutomatic { wish(.sync) }
            }
        }
    }

    /// A caller asks for a run.
    mutating func wish(_ wish: Wish) {
        if !wishes.contains(wish) { wishes.append(wish) }
    }

    /// A run that was wished for begins.
    mutating func unwish(_ wish: Wish) { wishes.removeAll { $0 == wish } }

    /// What is due is no more likely to work at once: the store could not be used, or the backend does
    /// not list the tables.
    mutating func rest(now: Duration, seconds: Int64 = SyncLimits.storeRestSeconds) {
        pushAt = now + .seconds(seconds)
    }

    /// A run got something done.
    mutating func progressed(now: Duration) { lastProgress = now }

    /// The backend gave a list or a verdict, or said something about one table.
    /// - Returns: true when it had been out of reach.
    @discardableResult
    mutating func reached(
        now: Duration, wall: Instant, reason: String = "The backend answers."
    ) -> Bool {
        lastProgress = now
        let wasAway: Bool
        switch link {
        case .down, .signedOut: wasAway = true
        case .open, .up: wasAway = false
        }
        link = .up
        tell(.online, reason, wall: wall, nextTry: nil)
        if wasAway {
            isHeldUp = true
            if settings.triggers.contains(.reconnect) { wish(.sync) }
        }
        return wasAway
    }

    /// Hands over whether something is held up, which is due then.
    mutating func takeHeldUp() -> Bool {
        defer { isHeldUp = false }
        return isHeldUp
    }

    /// Takes back that it is due, since it could not be written.
    mutating func holdUp() { isHeldUp = true }

    /// The backend cannot be used.
    mutating func failed(
        _ failure: Prover.Failure, now: Duration, wall: Instant, random: any RandomSource
    ) {
        lastProgress = now
        var count = 1
        if case .down(let failures, _) = link { count += failures }
        var wait = failure.retryAfter ?? Backoff.probe(failures: count, random: random)
        if failure.state == .signedOut {
            wait = max(wait, settings.interval)
            link = .signedOut(nextProbe: now + wait)
        } else {
            link = .down(failures: count, nextProbe: now + wait)
        }
        let next = isAutomatic ? wall.advanced(by: wait) : nil
        tell(failure.state, failure.reason, wall: wall, nextTry: next)
    }

    /// A person switches the backend off until then, in uptime, or on.
    mutating func setMode(_ mode: EngineStatus.Mode, until end: Duration?, now: Duration) {
        self.mode = mode
        modeEnd = end
        guard case .online = mode else { return }
        modeEnd = nil
        link = .open
        if isAutomatic { wish(.sync) }
    }

    /// Everything known of the backend is void: another address, or it was accepted anew.
    mutating func forget(url: String, reason: String, now: Duration, wall: Instant) {
        link = .open
        backend.url = url
        tell(.offline, reason, wall: wall, nextTry: nil)
        backend.isAsked = false
        if isAutomatic { wish(.sync) }
    }

    /// The settings are others now.
    mutating func set(_ settings: SyncSettings, now: Duration) {
        self.settings = settings
        syncAt = nextInterval(now)
    }

    private func nextInterval(_ now: Duration) -> Duration? {
        settings.triggers.contains(.interval) ? now + settings.interval : nil
    }

    private mutating func tell(
        _ state: BackendStatus.State, _ reason: String, wall: Instant, nextTry: Instant?
    ) {
        if backend.state != state { backend.since = wall }
        backend.state = state
        backend.reason = reason
        backend.nextTry = nextTry
        backend.isAsked = true
    }
}
