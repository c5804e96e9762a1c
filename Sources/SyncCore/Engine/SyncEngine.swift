public import HTTPMessage
public import HTTPTypes
public import Logging
import Synchronization
public import TablesProtocol

/// The entry point to syncing: one engine for each identity, with its store and its backend.
///
/// The engine holds no state that must survive. The queue, the outcomes and the pull tokens are in the
/// store, so a crash at any point resumes correctly. Runs are performed one at a time; a second request for
/// the same run joins the one in progress. Local reads and writes never wait for the engine.
///
/// Each subject of it has a type of its own, and all of them run on this actor (``EngineContext``).
public actor SyncEngine {
    let store: Store
    /// Where the passes run; nil for the global executor.
    let executor: (any TaskExecutor)?
    private let signal = WakeSignal()
    private let followSignal = WakeSignal()
    private let meter = Meter()
    let context: EngineContext
    let backend: KnownBackend
    let proofs: Proofs
    let maintenance: Maintenance
    private let clockWatch: ClockWatch
    private let following: ChangeFollowing?
    private(set) lazy var runner = Runner(self, proofs, clockWatch)
    private(set) lazy var loop = SyncLoop(self, runner, proofs, maintenance)
    private lazy var live = LiveSending(self, proofs, runner)
    private lazy var forwarding = Forwarding(proofs: proofs, runner: runner)

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
        (self.store, self.executor) = (store, executor)
        var memory =
            memory
            ?? EngineMemory(
                scheduler: Scheduler(
                    settings: settings, url: backend.address.description, now: clock.uptime(),
                    wall: clock.now()))
        memory.scheduler.reachability.restart(now: clock.uptime())
        context = EngineContext(store, clock, random, log, signal, followSignal, meter, memory)
        self.backend = KnownBackend(
            context,
            BackendAccess(
                transport: transport, configuration: backend, credential: credential,
                credentialRefused: refused, applicationKey: applicationKey),
            known: memory.generation)
        proofs = Proofs(context: context, backend: self.backend)
        maintenance = Maintenance(context)
        clockWatch = ClockWatch(self.backend)
        self.following = following.map { [backend = self.backend] in
            ChangeFollowing(backend, by: $0)
        }
        applyToStore(memory.scheduler.settings)
        store.onWrite { [signal] in signal.send(.write) }
        store.onDecisionNeeded { [log, identity = store.identity] needed in
            log.notice(needed.message, metadata: needed.logged(identity))
        }
    }

    /// Runs what belongs to the engine's actor, for what runs beside it.
    func with<T: Sendable>(_ body: @Sendable (isolated SyncEngine) async -> T) async -> T {
        await body(self)
    }

    /// Begins a task on the engine's actor.
    func begin(_ body: @escaping @Sendable (isolated SyncEngine) async -> Void) -> Task<Void, Never>
    {
        Task(executorPreference: executor) { await body(self) }
    }

    /// Passes settings to what reads them without waiting for the engine: the store's requests, and its writes.
    private nonisolated func applyToStore(_ settings: SyncSettings) {
        signal.setWakesOnWrites(settings.triggers.contains(.afterWrites))
        store.standard.store(settings.standardPolicies, ordering: .relaxed)
    }

    // MARK: The loop

    /// Runs the schedule until the task is cancelled or the engine is retired. A request in flight is
    /// finished and its outcome committed first. If due work is not touched, a watchdog restarts the loop
    /// and reports it.
    public func run() async {
        if meter.server == nil {
            meter.server = try? await store.read { try $0.binding.server() }
        }
        await loop.run()
        await live.end()
    }

    /// Follows the stream of changes while the engine syncs by itself, until the task is cancelled or the engine is
    /// retired. Without a transport of its own for the stream it returns at once.
    ///
    /// 1. Wait until the backend answers, and this identity has a credential.
    /// 2. Ask for the stream. An answer that is none is no verdict about the backend.
    /// 3. Wish for the pulls of the tables that it names, each after a random part of the spread.
    /// 4. After its end wait at random, and begin again.
    public func followChanges() async { await following?.run() }

    /// Wakes the loop. Returns at once.
    public nonisolated func nudge(_ cause: WakeCause) {
        signal.send(cause)
        if cause == .signedIn { followSignal.send(nil) }
    }

    /// Whether the loop is alive: a run is in progress, which the watchdog observes, or the last iteration
    /// is recent.
    public var isLoopAlive: Bool { loop.isAlive }

    /// Detects that the wall clock was set, as the loop does before each step.
    public func detectClockJump() async { await clockWatch.detectJump() }

    /// Ends the engine if it is idle: no run is in flight, requested or about to begin. Its loop then
    /// starts no further run.
    /// - Parameter isForced: whether to end it also if a run is about to begin, because its loop does not
    ///   run.
    /// - Returns: the engine's state; nil if it is not idle and continues.
    public func retire(isForced: Bool = false) -> EngineMemory? {
        // Takes the pending wake causes into the schedule, so that a sign-in is not lost with the loop.
        runner.takeCauses()
        guard runner.areOver, live.count == 0,
            isForced || context.scheduler.isIdle(now: context.clock.uptime())
        else { return nil }
        context.isRetired = true
        followSignal.send(nil)
        context.memory.generation = backend.knownGeneration
        return context.memory
    }

    /// Cancels ``retire(isForced:)``, because the store stays open.
    public func resume() { context.isRetired = false }

    /// The initial state for the engine of another identity: this engine's settings and mode, without its
    /// knowledge of the backend.
    public var initialMemory: EngineMemory {
        let (now, mine) = (context.clock.uptime(), context.scheduler)
        var scheduler = Scheduler(
            settings: mine.settings, url: mine.backend.url, now: now, wall: context.clock.now())
        scheduler.takeMode(of: mine, now: now)
        return EngineMemory(scheduler: scheduler, appliedChanges: context.memory.appliedChanges)
    }

    // MARK: Status

    /// The status of the identity.
    /// - Throws: ``StoreError`` when the store cannot be read.
    public func status() async throws(StoreError) -> EngineStatus {
        let ledger = try await store.ledger()
        var (tables, shown) = (try await store.tables(), backendStatus)
        for index in tables.indices where tables[index].pending > 0 {
            guard let advice = backend.proofAdvice(tables[index].name) else { break }
            if shown.state == .online {
                (shown.state, shown.reason) = (.notTables, "\(shown.reason) \(advice)")
            }
            tables[index].warning = [tables[index].warning, advice].compactMap(\.self)
                .joined(separator: " ")
        }
        let (memory, clock) = (context.memory, context.clock)
        let untilSync = memory.scheduler.syncAt.map { $0 - clock.uptime() }
        return EngineStatus(
            identity: store.identity, backend: shown, mode: memory.scheduler.mode,
            queue: ledger.queue, ledger: ledger, tables: tables, lastSync: memory.lastSync,
            nextSync: untilSync.map { clock.now().advanced(by: $0) },
            warnings: memory.warnings + [store.health.roomWarning].compactMap(\.self)
                + (try await store.health.triedOften()),
            stalls: memory.stalls)
    }

    /// The backend's status; the store is not read.
    public var backendStatus: BackendStatus {
        var status = context.scheduler.backend
        status.changesFollowedSince = following?.since
        if backend.access.credential() == .missing {
            status.state = .signedOut
            status.reason = Self.tokenMissing
        }
        return status
    }

    /// The samples since a time, oldest first, added up to steps of time. The last one has the minute
    /// that is not over yet, so that their sums are what the ledger grew by in that time. Where the clock
    /// was set back, minutes that lie in the future are left out until their time comes.
    /// - Parameters:
    ///   - since: rounded down to the beginning of a step.
    ///   - stepSeconds: the length of a step.
    /// - Throws: ``StoreError`` when the store cannot be read.
    public func samples(since: Instant, stepSeconds: Int) async throws(StoreError) -> [Sample] {
        try await maintenance.samples(since: since, stepSeconds: stepSeconds)
    }

    /// The times of all sync requests since the start.
    public nonisolated var requestTimes: RequestTimes { meter.times }

    /// The generation of the backend, as configured or found; nil until it is found.
    public var knownGeneration: Generation? { backend.knownGeneration }

    /// How the backend's server names itself, such as `node-3.0.0`; nil while it has not.
    public nonisolated var knownServer: String? { meter.server }

    static let offlineModeIsOn = "Offline mode is on. `understudy online` ends it."

    static let tokenMissing =
        "The identity's token is not here; its changes wait until its client signs in or asks again."

    // MARK: Mode and settings

    /// Whether the backend may be used.
    public var mode: EngineStatus.Mode { context.scheduler.mode }

    /// Switches the backend off, until a time or until it is switched on, or on again.
    public func setMode(_ mode: EngineStatus.Mode) async {
        var end: Duration?
        if case .offline(let until?) = mode {
            let wait = until.milliseconds - context.clock.now().milliseconds
            end = context.clock.uptime() + .milliseconds(max(wait, 0))
        }
        await apply([.mode(mode, until: end)])
    }

    public var settings: SyncSettings { context.scheduler.settings }

    /// Changes the settings atomically.
    public func update<Failure: Error>(
        _ change: @Sendable (SyncSettings) throws(Failure) -> SyncSettings
    ) async throws(Failure) {
        let changed = try change(settings)
        await apply([.settings { _ in changed }])
    }

    /// Applies the changes for all identities that the engine has not applied yet.
    /// - Returns: whether there were any.
    @discardableResult
    public func apply(_ all: SettingsForAll) async -> Bool {
        let missed = all.changes(after: context.memory.appliedChanges)
        if missed.isEmpty { return false }
        context.memory.appliedChanges = all.number
        await apply(missed)
        return true
    }

    private func apply(_ changes: ArraySlice<SettingsForAll.Change>) async {
        for change in changes {
            if case .mode(let mode, _) = change {
                if mode != .online {
                    runner.current?.cancel.set()
                    live.cancel()
                }
                backend.isProven = false
            }
            context.scheduler.apply(change, now: context.clock.uptime())
        }
        if mode != .online { await runner.endRequested() }
        applyToStore(settings)
        await runner.announceStatus()
        runner.wake()
    }

    /// Accepts the backend for a store that belongs to an earlier one. The queue stays; all pull tokens are
    /// reset.
    public func rebind() async throws(StoreError) {
        let address = backend.address
        try await store.write { try $0.binding.rebind(to: address) }
        backend.forget("The backend was accepted; it has not been asked yet.")
    }

    /// Takes the id that the store's user has at this backend, after the store came from another one. The
    /// owner of a row is no change that anybody made then (``Columns/following(_:of:)``).
    public func belong(to user: String) async throws(StoreError) {
        if try await store.read({ try $0.binding.owner() }) != user {
            try await store.write { try $0.binding.setOwner(user) }
        }
        backend.owner = user
    }

    // MARK: Runs

    /// Pushes, then pulls every table.
    /// - Returns: the finished run.
    public func sync() async -> Run { await runner.perform(.sync, isExplicit: true) }

    /// Pushes the due operations.
    /// - Parameter isExplicit: whether a person or a command requests it, rather than a client's write.
    /// - Returns: the finished run.
    public func push(isExplicit: Bool = true) async -> Run {
        await runner.perform(.push, isExplicit: isExplicit)
    }

    /// Pushes, then pulls one table: all rows, or those that `query` selects. With a query id, a filtered
    /// pull is incremental. With `reconcile`, local items without changes that the backend no longer has,
    /// or that left the query, are removed; a filtered pull needs a query id for that.
    /// - Parameters:
    ///   - refusesOlder: whether a comparison fails, and removes nothing, where the backend is older than the
    ///     store; false if a person takes the backend's rows whatever they are. Nil leaves only rows that a push
    ///     has replaced a moment ago.
    ///   - isExplicit: whether a person or a command requests it, rather than a client's read.
    /// - Returns: the finished run.
    public func pull(
        _ table: TableName, query: PullQuery = PullQuery(), queryID: String? = nil,
        reconcile: Bool = false, refusesOlder: Bool? = nil, isExplicit: Bool = true
    ) async -> Run {
        await runner.perform(
            .pull(
                PullRequest(
                    table: table, query: query, queryID: queryID, reconcile: reconcile,
                    older: PullRequest.OlderRows(refusesOlder))),
            isExplicit: isExplicit)
    }

    /// Pulls a table for a client's read, unless a pull of it that began at `time` or later has come to its end.
    /// Callers share a pull; one that began before `time` may miss a change, and is followed by another.
    public func refresh(_ table: TableName, since time: Duration) async {
        await runner.refresh(table, since: time)
    }

    /// Requests a sync, which the loop of ``run()`` performs.
    /// - Returns: the run's id; that of the run in progress if it is joined.
    public func startSync() async -> String { await runner.start(.sync) }

    /// The same for a push.
    public func startPush() async -> String { await runner.start(.push) }

    /// The same for a pull (``pull(_:query:queryID:reconcile:refusesOlder:isExplicit:)``).
    public func startPull(
        _ table: TableName, query: PullQuery = PullQuery(), queryID: String? = nil,
        reconcile: Bool = false, refusesOlder: Bool? = nil
    ) async -> String {
        await runner.start(
            .pull(
                PullRequest(
                    table: table, query: query, queryID: queryID, reconcile: reconcile,
                    older: PullRequest.OlderRows(refusesOlder))))
    }

    /// The run with this id, when it has finished or `timeout` has passed; nil if there is none.
    public func result(of id: String, timeout: Duration) async -> Run? {
        await runner.result(of: id, timeout: timeout)
    }

    /// A run, in progress or finished; nil if there is none.
    public func run(_ id: String) async -> Run? { await runner.run(id) }

    /// The latest runs, newest first, including the one in progress.
    public func runs() -> [Run] { runner.all }

    /// Cancels a run: after its request in flight, or before it begins.
    /// - Returns: false if it is neither in progress nor requested.
    public func cancel(run id: String) async -> Bool { await runner.cancel(id) }

    // MARK: Clients' requests

    /// Sends a write while its client waits.
    ///
    /// 1. With nothing open ahead of it (``LiveOrder``) it is sent at once, up to ``SyncLimits/liveWrites`` side by
    ///    side. Direct clients have no order among each other either.
    /// 2. After an answer of 5xx of the backend itself the row is read back, so that the verdict is known.
    /// 3. A write whose operation another live write or a push sends is awaited with it. One that stands in line
    ///    is not awaited, unless its client needs the backend's id: it stays in the queue.
    ///
    /// - Parameter answer: called with what is known. It answers the client if that is a verdict, and returns
    ///   whether it has. Until it has returned the operation is sent by nothing else.
    /// - Returns: whether the client is answered. If not, its write counts as acknowledged.
    public func send(
        _ write: AwaitedWrite, answer: @Sendable (WriteVerdict) async -> Bool
    ) async -> Bool {
        await live.send(write, answer: answer)
    }

    /// Remembers the client of a write that was acknowledged before it was sent: its next writes follow it.
    public nonisolated func acknowledged(_ write: AwaitedWrite) {
        if let operation = write.operation { store.live.acknowledged(operation, of: write.client) }
    }

    /// Sends a client's read to the backend. Of the answer it is only stored which rows a list with query pairs
    /// of the client's own had, if its table is here.
    public func forward(_ read: ForwardedRead) async -> ForwardedAnswer {
        await forwarding.forward(read)
    }

    /// Brings up to date which rows the backend's list with a client's own pairs has, and these rows: the table
    /// is pulled, then the list.
    /// - Returns: whether the backend gave the whole list.
    public func follow(_ pairs: OwnPairs, of table: TableName) async -> Bool {
        await forwarding.follow(pairs, of: table)
    }

    /// Whether the backend's list with a client's own pairs was followed to its end once.
    public func hasFollowed(_ pairs: OwnPairs, of name: TableName) async -> Bool {
        await forwarding.hasFollowed(pairs, of: name)
    }

    /// Fetches one item of a table that was not pulled yet, deleted or not, because a client changes it.
    /// - Returns: nil if the item is in the store now; otherwise the backend's answer.
    /// - Throws: ``StoreError`` when the store cannot be written.
    public func fetch(
        _ id: ItemID, of table: TableName, headers: HTTPFields = [:], generation: Generation
    ) async throws(StoreError) -> ForwardedAnswer? {
        try await forwarding.fetch(id, of: table, headers: headers, generation: generation)
    }

    /// Records the backend's answer to an insert that a client has sent to it past the store. A success with the
    /// item proves the backend, and that the table takes writes although it may give no list.
    public func noteInsert(
        answered response: Response, into table: TableName, as generation: Generation
    ) async {
        let reader = AnswerReader(generation: generation, now: context.clock.now())
        guard case .row = reader.write(response) else { return }
        await backend.noteTaker(table, as: generation)
    }
}

// For the simulator alone.
extension SyncEngine {
    /// Forgets the proof and the generation, as after a restart.
    package func forgetProof() { backend.forgetProof() }
}
