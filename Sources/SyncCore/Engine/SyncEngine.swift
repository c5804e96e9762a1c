public import HTTPMessage
import HTTPTypes
public import Logging
import Synchronization
public import TablesProtocol

/// The entry point to syncing: one engine for each identity, with its store and its backend.
///
/// The engine holds no state that must survive. The queue, the outcomes and the pull tokens are in the
/// store, so a crash at any point resumes correctly. Runs are performed one at a time; a second request for
/// the same run joins the one in progress. Local reads and writes never wait for the engine.
public actor SyncEngine {
    let store: Store
    nonisolated var live: LiveWrites { store.live }
    let transport: any HTTPTransport
    let clock: any EngineClock
    let random: any RandomSource
    /// Where the passes run; nil for the global executor.
    let executor: (any TaskExecutor)?
    let log: Logger
    let credential: @Sendable () -> Credential
    /// Called with a credential that the backend answered with 401.
    let credentialRefused: @Sendable (Credential) -> Void
    /// The application key that clients send.
    let applicationKey: @Sendable () -> String?
    let signal = WakeSignal()
    /// The transport of the stream of changes; nil where it is not followed.
    let followingTransport: (any HTTPTransport)?
    /// Wakes what follows the stream: a piece has come, or something that it depends on has changed.
    let followSignal = WakeSignal()
    /// Since when the stream is followed; nil while it is not.
    var followedSince: Instant?
    /// The tables that the stream named and that wait for their pull.
    var heardChanges = HeardChanges()
    var backend: BackendConfiguration
    /// The backend's generation, as found or as configured.
    var generation: Generation
    /// Whether a list showed the generation. A transient failure does not change that.
    var isGenerationKnown = false
    /// Whether the generation was found before, perhaps by an earlier process.
    var isGenerationRemembered = false
    /// Both clocks at the last comparison; nil before the first.
    var lastClockReading: (wall: Instant, uptime: Duration)?
    /// Whether the backend gave a list, and nothing has failed since.
    var isProven = false
    /// When it last gave one, in uptime.
    var provenAt: Duration?
    /// The tables that failed in proofs since it last gave one, the latest last.
    var failedInProofs: [TableName] = []
    /// When the last pull of each table's copy began that came to its end, in uptime.
    var pulledAt: [TableName: Duration] = [:]
    /// What a sync has pulled that made way for another run; the next one goes on from there.
    var pulledSoFar: Set<PullRequest> = []
    /// The backend that the store belongs to; nil until it is read.
    var binding: Binding?
    /// See ``BackendBinding/owner()``; nil until ``binding`` is read.
    var owner: String?
    /// See ``BackendBinding/takers()``; empty until ``binding`` is read.
    var takers: Set<TableName> = []
    /// Since when no table has proven the backend that answers, in uptime; nil if one has.
    var unprovenSince: Duration?
    /// Before which the backend asked not to be tried (Retry-After), by the wall clock; nil if it named no
    /// time, or before the binding is read.
    var backendNotBefore: Instant?
    var scheduler: Scheduler
    var current: CurrentRun?
    var waiters: [String: [CheckedContinuation<Run, Never>]] = [:]
    /// The requested runs that have not begun.
    var announcedRuns: [Scheduler.Wish: Run] = [:]
    /// The number of callers that wait for another run to end before theirs begins.
    var callersBehind = 0
    /// The number of requested runs that ended without beginning and are being saved.
    var endingRuns = 0
    /// The latest finished runs, oldest first.
    var finished: [Run] = []
    var lastSync: Instant?
    var warnings: [String] = []
    /// The counts of requests since the last sample, and when that was taken.
    let meter = Meter()
    var minuteBegin: Instant
    /// When expired rows were last removed.
    var maintainedAt: Instant
    /// When history and attempts were last held within their bytes; nil before the first time.
    var bytesHeldAt: Instant?
    /// How often the loop stalled and was restarted.
    var stalls = 0
    /// When the loop's last iteration began; nil before the first.
    var lastIteration: Duration?
    /// Whether the store is about to be closed, so that the loop starts no further run.
    var isRetired = false
    /// The most rows that one list of a table may ask for, where the backend refused more.
    var takenRows: [TableName: Int] = [:]
    /// A client's keys, which every request has where the backend refuses those without. In memory alone.
    var learnedKeys: HTTPFields = [:]
    /// The number of the last change for all identities that was applied (``SettingsForAll``).
    var appliedChanges = 0
    /// The task of the run in progress, which the watchdog may cancel.
    var runTask: Task<Run, Never>?
    /// The places of those that are sent side by side, and what ends those that wait for one.
    let liveSlots = Permits(SyncLimits.liveWrites)
    var liveCancel = CancelFlag()
    /// The proof that live writes wait for; nil while none does.
    var liveProof: Task<PushStop?, Never>?
    /// The live writes in a row that failed for the link.
    var liveFailures = 0
    /// The live writes whose outcomes are not on disk, and what waits for them.
    var liveCount = 0
    var liveWaiters: [CheckedContinuation<Void, Never>] = []

    /// Makes an engine; ``run()`` starts its loop.
    /// - Parameters:
    ///   - executor: where the passes run, if the caller controls the order of their steps.
    ///   - credential: gives the credential for a run. Called before each run, and again after a 401: a token
    ///     that differs from the refused one is tried at once.
    ///   - refused: called with a credential that the backend answered with 401, before `credential` is
    ///     called again. A success does not prove a token, because a table may be public.
    ///   - memory: the state of an earlier engine over the same store.
    ///   - following: the transport of the stream of changes (``followChanges()``), which holds a connection for as
    ///     long as it is followed; nil to follow none.
    ///   - applicationKey: gives the key that clients send to a first generation backend. A key in the
    ///     backend's configuration takes precedence.
    public init(
        store: Store, transport: any HTTPTransport, backend: BackendConfiguration,
        settings: SyncSettings = SyncSettings(), clock: any EngineClock,
        random: any RandomSource = SystemRandom(), executor: (any TaskExecutor)? = nil, log: Logger,
        memory: EngineMemory? = nil, following: (any HTTPTransport)? = nil,
        credential: @escaping @Sendable () -> Credential = { .none },
        refused: @escaping @Sendable (Credential) -> Void = { _ in },
        applicationKey: @escaping @Sendable () -> String? = { nil }
    ) {
        self.store = store
        self.transport = transport
        self.clock = clock
        self.random = random
        self.executor = executor
        self.log = log
        followingTransport = following
        self.credential = credential
        credentialRefused = refused
        self.applicationKey = applicationKey
        self.backend = backend
        generation = backend.generation.first
        minuteBegin = clock.now()
        maintainedAt = minuteBegin
        scheduler =
            memory?.scheduler
            ?? Scheduler(
                settings: settings, url: backend.address.description, now: clock.uptime(),
                wall: clock.now())
        scheduler.reachability.restart(now: clock.uptime())
        if let memory {
            if let known = memory.generation { (generation, isGenerationKnown) = (known, true) }
            lastSync = memory.lastSync
            (warnings, finished, stalls) = (memory.warnings, memory.finished, memory.stalls)
            appliedChanges = memory.appliedChanges
        }
        applyToStore(scheduler.settings)
        store.onWrite { [signal] in signal.send(.write) }
        store.onDecisionNeeded { [log, identity = store.identity] needed in
            log.notice(needed.message, metadata: needed.logged(identity))
        }
    }

    /// Passes settings to what reads them without waiting for the engine: the store's requests, and its writes.
    nonisolated func applyToStore(_ settings: SyncSettings) {
        signal.setWakesOnWrites(settings.triggers.contains(.afterWrites))
        store.standard.store(settings.standardPolicies, ordering: .relaxed)
    }

    /// Wakes the loop. Returns at once.
    public nonisolated func nudge(_ cause: WakeCause) {
        signal.send(cause)
        if cause == .signedIn { followSignal.send(nil) }
    }

    /// Wakes the loop, and what follows the stream of changes.
    func wake() {
        signal.send(nil)
        followSignal.send(nil)
    }

    // MARK: Status and settings

    /// The status of the identity.
    /// - Throws: ``StoreError`` when the store cannot be read.
    public func status() async throws(StoreError) -> EngineStatus {
        let ledger = try await store.ledger()
        var (tables, backend) = (try await store.tables(), backendStatus)
        for index in tables.indices where tables[index].pending > 0 {
            guard let advice = proofAdvice(tables[index].name) else { break }
            if backend.state == .online {
                (backend.state, backend.reason) = (.notTables, "\(backend.reason) \(advice)")
            }
            tables[index].warning = [tables[index].warning, advice].compactMap(\.self)
                .joined(separator: " ")
        }
        let untilSync = scheduler.syncAt.map { $0 - clock.uptime() }
        return EngineStatus(
            identity: store.identity, backend: backend, mode: scheduler.mode,
            queue: ledger.queue, ledger: ledger, tables: tables, lastSync: lastSync,
            nextSync: untilSync.map { clock.now().advanced(by: $0) },
            warnings: warnings + [store.roomWarning].compactMap(\.self)
                + (try await store.triedOften()),
            stalls: stalls)
    }

    /// The backend's status; the store is not read.
    public var backendStatus: BackendStatus {
        var status = scheduler.backend
        status.changesFollowedSince = followedSince
        if credential() == .missing {
            status.state = .signedOut
            status.reason = Self.tokenMissing
        }
        return status
    }

    /// The times of all sync requests since the start.
    public nonisolated var requestTimes: RequestTimes { meter.times }

    /// The generation of the backend, as configured or found; nil until it is found.
    public var knownGeneration: Generation? {
        switch backend.generation {
        case .fixed(let generation): generation
        case .auto: isGenerationKnown ? generation : nil
        }
    }

    /// How the backend's server names itself, such as `node-3.0.0`; nil while it has not.
    public nonisolated var knownServer: String? { meter.server }

    var key: String? { backend.applicationKey ?? applicationKey() }

    static let offlineModeIsOn = "Offline mode is on. `understudy online` ends it."

    static let tokenMissing =
        "The identity's token is not here; its changes wait until its client signs in or asks again."

    /// Whether the backend may be used.
    public var mode: EngineStatus.Mode { scheduler.mode }

    /// Switches the backend off, until a time or until it is switched on, or on again.
    public func setMode(_ mode: EngineStatus.Mode) async {
        let now = clock.uptime()
        var end: Duration?
        if case .offline(let until?) = mode {
            let wait = until.milliseconds - clock.now().milliseconds
            end = now + .milliseconds(max(wait, 0))
        }
        if case .offline = mode { cancelRequests() }
        isProven = false
        scheduler.setMode(mode, until: end, now: now)
        if case .offline = mode { await endRequestedRuns() }
        await announceStatus()
        wake()
    }

    public var settings: SyncSettings { scheduler.settings }

    public func update(_ settings: SyncSettings) async { await update { _ in settings } }

    /// Changes the settings atomically.
    public func update<Failure: Error>(
        _ change: @Sendable (SyncSettings) throws(Failure) -> SyncSettings
    ) async throws(Failure) {
        scheduler.set(try change(settings), now: clock.uptime())
        applyToStore(scheduler.settings)
        await announceStatus()
        wake()
    }

    /// Accepts the backend for a store that belongs to an earlier one. The queue stays; all pull tokens are
    /// reset.
    public func rebind() async throws(StoreError) {
        let address = backend.address
        try await store.write { try $0.binding.rebind(to: address) }
        forget("The backend was accepted; it has not been asked yet.")
    }

    /// Takes the id that the store's user has at this backend, after the store came from another one. The
    /// owner of a row is no change that anybody made then (``Columns/following(_:of:)``).
    public func belong(to user: String) async throws(StoreError) {
        if try await store.read({ try $0.binding.owner() }) != user {
            try await store.write { try $0.binding.setOwner(user) }
        }
        owner = user
    }

    private func forget(_ reason: String) {
        isProven = false
        isGenerationKnown = false
        isGenerationRemembered = false
        binding = nil
        owner = nil
        unprovenSince = nil
        backendNotBefore = nil
        generation = backend.generation.first
        meter.server = nil
        warnings = []
        takenRows = [:]
        scheduler.forget(
            url: backend.address.description, reason: reason, now: clock.uptime(),
            wall: clock.now())
        wake()
    }

    /// Tells the dashboard that the status has changed.
    func announceStatus() async {
        do {
            try await store.write { $0.events.emit(.status) }
        } catch {
            log.warning("status not announced", metadata: ["error": "\(error)"])
        }
    }
}

// For the simulator alone.
extension SyncEngine {
    /// Forgets the proof and the generation, as after a restart.
    package func forgetProof() {
        isProven = false
        isGenerationKnown = false
    }
}
