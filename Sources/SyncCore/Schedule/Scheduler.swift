import TablesProtocol

/// Decides when the engine does what. Pure: events go in with the time, the next step comes out. All waits
/// are in uptime, so that a jump of the wall clock changes nothing.
struct Scheduler: Sendable {
    /// The engine's next step.
    enum Step: Sendable, Hashable {
        case run(Wish)
        /// List a table of the backend, and do nothing else.
        case probe
        /// Wait for an event, at most until this time.
        case wait(until: Duration?)
    }

    /// A requested run.
    enum Wish: Sendable, Hashable {
        case push
        case sync
        case pull(PullRequest)
    }

    /// The state of the connection to the backend.
    enum Link: Sendable, Hashable {
        /// Nothing was tried since the start or since a change of the address.
        case open
        case up
        /// `since`: the uptime of the first failure, or of the first one after a sleep.
        case down(failures: Int, since: Duration, nextProbe: Duration)
        case signedOut(nextProbe: Duration)
    }

    /// The due work in the store.
    struct Outlook: Sendable, Hashable {
        var hasDue = false
        /// How long until the next waiting operation, or the next table that is put off, is due.
        var untilNext: Duration?
        /// The table whose pull is due first after it failed.
        var putOffPull: TableName?
        /// How long until that pull is due.
        var untilPull: Duration?
        /// The table whose copy is checked first, and how long until then.
        var check: TableName?
        var untilCheck: Duration?
    }

    var mode = EngineStatus.Mode.online
    /// The uptime at which an offline mode ends.
    var modeEnd: Duration?
    var settings: SyncSettings
    private(set) var link = Link.open
    /// The backend's status as shown.
    private(set) var backend: BackendStatus
    /// How long the backend was in which state.
    var reachability: Reachability
    var pushAt: Duration?
    private var quietSince: Duration?
    private(set) var syncAt: Duration?
    /// The uptime before which no failed pull is tried again by itself.
    private var pullPause: Duration?
    /// Whether a probe has to find out if the backend is out of reach.
    var mustProbe = false
    /// Whether every waiting operation becomes due when the backend next gives a list, because it was out
    /// of reach or waited for a sign-in.
    private(set) var retriesAllWhenProven = false
    var wishes: [Wish] = []
    /// The pulls in a row whose rows were older than what is here.
    private var laggingPulls = 0
    /// When each table was last pulled for a read.
    private var lastRead: [TableName: Duration] = [:]
    /// Tables that were read soon after such a pull, which may not show what changed since, and when they are pulled.
    private var laterReads: [TableName: Duration] = [:]
    /// When the engine last made progress, or had nothing to do.
    private var lastProgress: Duration

    init(settings: SyncSettings, url: String, now: Duration, wall: Instant) {
        self.settings = settings
        lastProgress = now
        backend = BackendStatus(
            url: url, state: .offline, reason: "The backend has not been asked yet.", since: wall,
            isAsked: false)
        reachability = Reachability(.notAsked, now: now)
        if settings.triggers.contains(.interval) { syncAt = now }
    }

    /// Whether a request may reach the backend, as far as the last ones have shown.
    var isInReach: Bool { if case .down = link { false } else { true } }

    /// When a backend that is away, or asks for a sign-in, is looked for again; nil if it is not away.
    var nextProbe: Duration? {
        switch link {
        case .down(_, _, let probe), .signedOut(let probe): probe
        case .open, .up: nil
        }
    }

    /// Whether anything happens without an explicit request.
    var isAutomatic: Bool { settings.triggers != [.manual] && !settings.triggers.isEmpty }

    /// The next step. If a run is in progress, the engine performs the step's run after it.
    mutating func next(now: Duration, outlook: Outlook) -> Step {
        if case .offline = mode {
            guard let modeEnd, now >= modeEnd else {
                lastProgress = now
                return .wait(until: modeEnd)
            }
            setMode(.online, until: nil, now: now)
        }
        if mustProbe {
            mustProbe = false
            return .probe
        }
        let dueReads = laterReads.filter { $0.value <= now }.keys
        for table in dueReads.sorted(by: { $0.key < $1.key }) {
            if pullsForRead(of: table, now: now) { wish(.pull(PullRequest(table: table))) }
        }
        if !wishes.isEmpty {
            let wish = wishes.removeFirst()
            // The interval begins anew, so that a backend that returns is not asked for everything twice.
            if wish == .sync { syncAt = nextInterval(now) }
            return .run(wish)
        }
        guard isAutomatic else {
            lastProgress = now
            return .wait(until: nil)
        }
        if let nextProbe { return now >= nextProbe ? .probe : .wait(until: nextProbe) }
        if let syncAt, now >= syncAt {
            self.syncAt = nextInterval(now)
            return .run(.sync)
        }
        if let table = outlook.putOffPull, outlook.untilPull ?? .zero <= .zero, pullsAgain(now) {
            return .run(.pull(PullRequest(table: table)))
        }
        return pushStep(now: now, outlook: outlook)
    }

    /// Whether a pull that failed is tried again by itself, before the next sync.
    private func pullsAgain(_ now: Duration) -> Bool {
        settings.triggers.contains(.reconnect) && pullPause.map { now >= $0 } ?? true
    }

    private mutating func pushStep(now: Duration, outlook: Outlook) -> Step {
        let isDue = outlook.hasDue && settings.triggers.contains(.afterWrites)
        if !isDue { lastProgress = now }
        if startPush(now: now, outlook: outlook) { return .run(.push) }
        if !outlook.hasDue { pushAt = nil }
        // Copies are checked when there is nothing else to do.
        let check =
            link == .up && !outlook.hasDue
            ? outlook.untilCheck.map { max(now + $0, pullPause ?? now) } : nil
        if let table = outlook.check, let check, check <= now {
            return .run(.pull(PullRequest(table: table, checksCopy: true)))
        }
        let later = settings.triggers.contains(.afterWrites) ? outlook.untilNext : nil
        let pull = settings.triggers.contains(.reconnect) ? outlook.untilPull : nil
        let times = [
            isDue ? pushAt : nil, syncAt, later.map { now + $0 },
            pull.map { max(now + $0, pullPause ?? now) }, check, laterReads.values.min(),
        ]
        return .wait(until: times.compactMap(\.self).min())
    }

    /// Whether a run waits that does something else than the one in progress.
    func hasOtherWork(than wish: Wish, now: Duration) -> Bool {
        mustProbe || wishes.contains { $0 != wish }
            || isAutomatic && syncAt.map { now >= $0 } ?? false
    }

    /// Whether due operations are to be pushed now. If so, the push counts as started.
    mutating func startPush(now: Duration, outlook: Outlook) -> Bool {
        guard isAutomatic, settings.triggers.contains(.afterWrites), outlook.hasDue,
            pushAt.map({ now >= $0 }) ?? true
        else { return false }
        pushAt = nil
        quietSince = nil
        return true
    }

    /// Whether the loop is stalled: a run makes no progress for longer than any request may take, or due work
    /// that is pushed automatically is not touched although the backend is in reach. Never without triggers
    /// and never in offline mode.
    func isStalled(now: Duration, outlook: Outlook, isRunning: Bool) -> Bool {
        guard isAutomatic, case .online = mode else { return false }
        let rest = now - lastProgress
        if isRunning {
            return rest > .seconds(SyncLimits.stallSeconds + SyncLimits.requestPatienceSeconds)
        }
        guard outlook.hasDue, settings.triggers.contains(.afterWrites), nextProbe == nil else {
            return false
        }
        return rest > .seconds(SyncLimits.stallSeconds)
    }

    // MARK: Events

    /// Handles a committed write or action, a client's read, a sign-in, or a sign that the backend is in
    /// reach or out of it.
    mutating func wake(_ cause: WakeCause, now: Duration) {
        switch cause {
        case .write:
            guard settings.triggers.contains(.afterWrites) else { return }
            // Each write restarts the debounce time, but not for longer than ten times that time.
            let first = quietSince ?? now
            quietSince = first
            pushAt = min(now + settings.debounce, first + settings.debounce * 10)
        case .read(let table):
            guard settings.triggers.contains(.read) else { return }
            let gap = Duration.seconds(SyncLimits.readGapSeconds)
            if let last = lastRead[table], now - last < gap {
                laterReads[table] = last + gap
            } else if pullsForRead(of: table, now: now) {
                wish(.pull(PullRequest(table: table)))
            }
        case .reachable:
            if case .down(let failures, let since, _) = link {
                link = .down(failures: failures, since: since, nextProbe: now)
            }
        case .unreachable:
            // A backend that asks for a sign-in is in reach.
            if isInReach { mustProbe = true }
        case .signedIn:
            if case .signedOut = link {
                link = .open
                retriesAllWhenProven = true
                if isAutomatic { wish(.sync) }
            }
        }
    }

    /// Records that a table is pulled for a read, so that further reads of it start no pull for a while.
    /// - Returns: false if too many tables were.
    @discardableResult
    mutating func pullsForRead(of table: TableName, now: Duration) -> Bool {
        laterReads[table] = nil
        lastRead[table] = nil
        if lastRead.count >= SyncLimits.readTables {
            lastRead = lastRead.filter { now - $0.value < .seconds(SyncLimits.readGapSeconds) }
        }
        guard lastRead.count < SyncLimits.readTables else { return false }
        lastRead[table] = now
        return true
    }

    /// Handles the end of pulls.
    /// - Parameter isLagging: whether the backend's copy lags behind. Then it is asked again soon, after waits that
    ///   grow until ``ReplacedRows`` end.
    mutating func pulled(isLagging: Bool, now: Duration) {
        laggingPulls = isLagging ? min(laggingPulls + 1, SyncLimits.backoffDoublings) : 0
        guard isLagging, let next = syncAt else { return }
        let wait = Duration.seconds(SyncLimits.laggingPullSeconds << Int64(laggingPulls - 1))
        syncAt = min(next, now + wait)
    }

    mutating func wish(_ wish: Wish) {
        if !wishes.contains(wish) { wishes.append(wish) }
    }

    /// Removes a requested run, because it begins or was cancelled.
    mutating func unwish(_ wish: Wish) { wishes.removeAll { $0 == wish } }

    /// Delays the next push after a failure that would repeat: the store cannot be used, or the backend
    /// does not list the tables.
    mutating func pausePushes(now: Duration, seconds: Int64 = SyncLimits.storeRestSeconds) {
        pushAt = now + .seconds(seconds)
        pausePulls(now: now)
    }

    /// Delays pulls that are tried again by themselves, because one was cancelled or the store cannot be used.
    mutating func pausePulls(now: Duration) {
        pullPause = now + .seconds(SyncLimits.storeRestSeconds)
    }

    mutating func progressed(now: Duration) { lastProgress = now }

    /// Records that the backend gave a list or a verdict, or an answer about one table.
    /// - Parameter request: the request that such an answer refused.
    mutating func reached(
        now: Duration, wall: Instant, reason: String = "The backend answers.",
        refused request: FailedRequest? = nil
    ) {
        lastProgress = now
        let wasAway = nextProbe != nil
        link = .up
        setBackend(.online, reason, now: now, wall: wall, nextTry: nil)
        backend.failedRequest = request
        if wasAway {
            retriesAllWhenProven = true
            if settings.triggers.contains(.reconnect) { wish(.sync) }
        }
    }

    /// Returns whether every waiting operation becomes due now, and resets that.
    mutating func takeRetryAll() -> Bool {
        defer { retriesAllWhenProven = false }
        return retriesAllWhenProven
    }

    /// Requests again that every waiting operation becomes due, because that could not be written.
    mutating func requestRetryAll() { retriesAllWhenProven = true }

    /// Records that the backend cannot be used.
    mutating func failed(
        _ failure: Prover.Failure, now: Duration, wall: Instant, random: any RandomSource
    ) {
        lastProgress = now
        var (count, since) = (1, now)
        if case .down(let failures, let first, let probe) = link {
            count = failures + 1
            // A probe that is this late was slept over: nobody has looked for the backend meanwhile.
            let isLate = now - probe > .seconds(SyncLimits.requestPatienceSeconds)
            if !isLate { since = first }
        }
        var wait =
            failure.retryAfter
            ?? Backoff.probe(failures: count, outage: now - since, random: random)
        if failure.state == .signedOut {
            wait = max(wait, settings.interval)
            link = .signedOut(nextProbe: now + wait)
        } else {
            link = .down(failures: count, since: since, nextProbe: now + wait)
        }
        let next = isAutomatic ? wall.advanced(by: wait) : nil
        setBackend(failure.state, failure.reason, now: now, wall: wall, nextTry: next)
        backend.failedRequest = failure.request
    }

    /// Switches the backend off until an uptime, or on.
    mutating func setMode(_ mode: EngineStatus.Mode, until end: Duration?, now: Duration) {
        self.mode = mode
        modeEnd = end
        reachability.become(reach, now: now)
        guard case .online = mode else { return }
        modeEnd = nil
        link = .open
        if isAutomatic { wish(.sync) }
    }

    /// Forgets everything about the backend, because it was accepted again.
    mutating func forget(reason: String, now: Duration, wall: Instant) {
        link = .open
        setBackend(.offline, reason, now: now, wall: wall, nextTry: nil)
        backend.isAsked = false
        reachability.become(reach, now: now)
        if isAutomatic { wish(.sync) }
    }

    mutating func set(_ settings: SyncSettings, now: Duration) {
        self.settings = settings
        syncAt = nextInterval(now)
    }

    private func nextInterval(_ now: Duration) -> Duration? {
        settings.triggers.contains(.interval) ? now + settings.interval : nil
    }

    private mutating func setBackend(
        _ state: BackendState, _ reason: String, now: Duration, wall: Instant,
        nextTry: Instant?
    ) {
        if backend.state != state { backend.since = wall }
        backend.state = state
        backend.reason = reason
        backend.nextTry = nextTry
        backend.failedRequest = nil
        backend.isAsked = true
        reachability.become(reach, now: now)
    }

    /// Whether and how the backend can be used now.
    var reach: Sample.Reach {
        if case .offline = mode { return .switchedOff }
        guard backend.isAsked else { return .notAsked }
        return switch backend.state {
        case .online: .online
        case .offline: .offline
        case .degraded: .degraded
        case .signedOut: .signedOut
        case .portal: .portal
        case .notTables: .notTables
        }
    }
}
