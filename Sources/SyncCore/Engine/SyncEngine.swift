public import HTTPMessage
public import Logging
public import TablesProtocol

/// The front door of syncing: one engine for each identity, over its store and its backend.
///
/// The engine keeps nothing that must survive: what is to be sent, what was sent and how far each
/// table was pulled is in the store, so that a crash anywhere resumes right. Passes run one at a
/// time; a second request for one joins the one under way. Local reads and writes never wait here.
public actor SyncEngine {
    let store: Store
    let transport: any HTTPTransport
    let clock: any EngineClock
    let random: any RandomSource
    /// Where the passes run; nil for everybody's pool.
    let executor: (any TaskExecutor)?
    let log: Logger
    let credential: @Sendable () -> Credential
    /// Told of what the backend answered 401 to.
    let credentialRefused: @Sendable (Credential) -> Void
    /// The application key as clients send it.
    let applicationKey: @Sendable () -> String?
    let signal = WakeSignal()
    var backend: BackendConfiguration
    /// What the backend was found to be, or is said to be.
    var generation: Generation
    /// A list showed what the backend is; a passing failure does not open the question again.
    var isGenerationKnown = false
    /// The generation was found out before, by an earlier process perhaps.
    var isGenerationRemembered = false
    /// Both clocks when they were last compared; nil before the first time.
    var lastLook: (wall: Instant, uptime: Duration)?
    /// The backend gave a list, and nothing has failed since.
    var isProven = false
    /// Whose work the store holds; nil until asked.
    var binding: Binding?
    var scheduler: Scheduler
    var current: CurrentRun?
    var waiters: [String: [CheckedContinuation<Run, Never>]] = [:]
    /// Runs that were asked for and have not begun.
    var announcedRuns: [Scheduler.Wish: Run] = [:]
    /// The latest runs that are over, oldest first.
    var finished: [Run] = []
    var lastSync: Instant?
    var warnings: [String] = []
    /// What the backend answered in the minute that is under way, and when that began.
    let meter = Meter()
    var minuteBegin: Instant?
    /// How often the loop stood still and was started again.
    var stalls = 0
    /// When the loop last began a turn; nil before the first.
    var lastTurn: Duration?
    /// Its store is about to be closed: the loop begins nothing any more.
    var isRetired = false
    /// The number of the last change for all identities that it took in (``SettingsForAll``).
    var heard = 0
    /// The pass under way, for whom it stands still.
    var carrying: Task<Run, Never>?

    /// Makes an engine; ``run()`` sets it going.
    /// - Parameters:
    ///   - executor: where the passes run, when the order of their steps is the caller's.
    ///   - credential: asked before each run in whose name to speak, and again after a 401: another
    ///     token than the refused one is tried at once.
    ///   - refused: told of a 401, and what was spoken with; before `credential` is asked again. Whether
    ///     the backend answers says nothing of a token: a table may be open to all.
    ///   - memory: what an earlier engine over the same store knew.
    ///   - applicationKey: asked then for the key that clients send to a first generation backend;
    ///     one that the backend's configuration names goes before it.
    public init(
        store: Store, transport: any HTTPTransport, backend: BackendConfiguration,
        settings: SyncSettings = SyncSettings(), clock: any EngineClock,
        random: any RandomSource = SystemRandom(), executor: (any TaskExecutor)? = nil, log: Logger,
        memory: EngineMemory? = nil,
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
        self.credential = credential
        credentialRefused = refused
        self.applicationKey = applicationKey
        self.backend = backend
        generation = backend.generation.first
        scheduler =
            memory?.scheduler
            ?? Scheduler(
                settings: settings, url: backend.address.description, now: clock.uptime(),
                wall: clock.now())
        if let memory {
            if let known = memory.generation { (generation, isGenerationKnown) = (known, true) }
            lastSync = memory.lastSync
            (warnings, finished, stalls) = (memory.warnings, memory.finished, memory.stalls)
            heard = memory.heard
        }
        signal.hear(writes: scheduler.settings.triggers.contains(.afterWrites))
        store.onWrite { [signal] in signal.send(.write) }
    }

    /// Wakes the schedule. Never waits.
    public nonisolated func nudge(_ cause: WakeCause) { signal.send(cause) }

    // MARK: Status and settings

    /// How everything stands.
    /// - Throws: ``StoreError`` when the store cannot be read.
    public func status() async throws(StoreError) -> EngineStatus {
        let ledger = try await store.ledger()
        let tables = try await store.tables()
        let untilSync = scheduler.syncAt.map { $0 - clock.uptime() }
        return EngineStatus(
            identity: store.identity, backend: backendStatus, mode: scheduler.mode,
            queue: ledger.queue, ledger: ledger, tables: tables, lastSync: lastSync,
            nextSync: untilSync.map { clock.now().advanced(by: $0) }, warnings: warnings + [store.roomWarning].compactMap(\.self),
            stalls: stalls)
    }

    /// What is known of the backend, without touching the store.
    public var backendStatus: BackendStatus {
        var status = scheduler.backend
        if credential() == .missing {
            status.state = .signedOut
            status.reason = Self.tokenMissing
        }
        return status
    }

    /// How long the requests of syncing took since the start.
    public nonisolated var requestTimes: RequestTimes { meter.times }

    /// The generation that the backend is said or was found to be; nil until then.
    public var knownGeneration: Generation? {
        switch backend.generation {
        case .fixed(let generation): generation
        case .auto: isGenerationKnown ? generation : nil
        }
    }

    var key: String? { backend.applicationKey ?? applicationKey() }

    static let offlineModeIsOn = "Offline mode is on. `understudy online` ends it."

    static let tokenMissing =
        "The identity's token is not here; its changes wait until its client signs in or asks again."

    /// Whether the backend may be used.
    public var mode: EngineStatus.Mode { scheduler.mode }

    /// Switches the backend off, until then or until switched on, or on again.
    public func setMode(_ mode: EngineStatus.Mode) async {
        let now = clock.uptime()
        var end: Duration?
        if case .offline(let until?) = mode {
            let wait = until.milliseconds - clock.now().milliseconds
            end = now + .milliseconds(max(wait, 0))
        }
        if case .offline = mode { current?.cancel.set() }
        isProven = false
        scheduler.setMode(mode, until: end, now: now)
        if case .offline = mode {
            for wish in announcedRuns.keys {
                await endAnnounced(wish, .offline, Self.offlineModeIsOn)
            }
        }
        await announceStatus()
        signal.send(nil)
    }

    /// What the operator has set.
    public var settings: SyncSettings { scheduler.settings }

    /// Sets it anew.
    public func update(_ settings: SyncSettings) async { await update { _ in settings } }

    /// Sets it anew, from what it is: no other change comes between.
    public func update<Failure: Error>(
        _ change: @Sendable (SyncSettings) throws(Failure) -> SyncSettings
    ) async throws(Failure) {
        scheduler.set(try change(settings), now: clock.uptime())
        signal.hear(writes: scheduler.settings.triggers.contains(.afterWrites))
        await announceStatus()
        signal.send(nil)
    }

    /// Speaks to another backend from the next request on.
    public func update(_ backend: BackendConfiguration) {
        self.backend = backend
        forget("The address was changed; it has not been asked yet.")
    }

    /// Accepts the backend for a store that has work for an earlier one: the queue stays, all tokens
    /// are reset.
    public func rebind() async throws(StoreError) {
        let address = backend.address
        try await store.write { try $0.binding.rebind(to: address) }
        forget("The backend was accepted; it has not been asked yet.")
    }

    /// As after a new start: what the backend is has to be shown again.
    package func forgetProof() {
        isProven = false
        isGenerationKnown = false
    }

    private func forget(_ reason: String) {
        isProven = false
        isGenerationKnown = false
        isGenerationRemembered = false
        binding = nil
        generation = backend.generation.first
        warnings = []
        scheduler.forget(
            url: backend.address.description, reason: reason, now: clock.uptime(),
            wall: clock.now())
        signal.send(nil)
    }

    /// Tells the dashboard that the status is another.
    func announceStatus() async {
        do {
            try await store.write { $0.events.emit(.status) }
        } catch {
            log.warning("status not announced", metadata: ["error": "\(error)"])
        }
    }
}
