public import HTTPMessage
public import Logging
public import TablesProtocol

/// The front door of syncing: one engine for each identity, over its store and its backend.
///
/// The engine keeps nothing that must survive: what is to be sent, what was sent and how far each
/// table was pulled is in the store, so that a crash anywhere resumes right. Passes run one at a
/// time; a second request for one joins the one under way.
public actor SyncEngine {
    let store: Store
    let transport: any HTTPTransport
    let clock: any EngineClock
    let random: any RandomSource
    let log: Logger
    var backend: BackendConfiguration
    var settings: SyncSettings

    /// Makes an engine; ``run()`` sets it going.
    public init(
        store: Store, transport: any HTTPTransport, backend: BackendConfiguration,
        settings: SyncSettings = SyncSettings(), clock: any EngineClock,
        random: any RandomSource = SystemRandom(), log: Logger,
        credential: @escaping @Sendable () -> Credential = { .none }
    ) {
        self.store = store
        self.transport = transport
        self.clock = clock
        self.random = random
        self.log = log
        self.backend = backend
        self.settings = settings
    }

    /// Runs the schedule until the task is cancelled; the bookkeeping of a request in flight is
    /// finished first.
    public func run() async {}

    /// Wakes the schedule. Never waits.
    public nonisolated func nudge(_ cause: WakeCause) {}

    /// Pushes, then pulls every table. Returns when that is over.
    public func sync() async -> Run { await push() }
    /// Pushes what is due. Returns when that is over.
    public func push() async -> Run {
        Run(id: "", kind: .push, startedAt: clock.now())
    }
    /// Pushes, then pulls one table, whole or what `filter` ($filter text) selects.
    public func pull(
        _ table: TableName, filter: String? = nil, queryID: String? = nil, reconcile: Bool = false
    ) async -> Run { await push() }

    /// Starts a sync that the loop of ``run()`` carries out, or names the one under way.
    public func startSync() -> String { "" }
    /// Starts a push that the loop of ``run()`` carries out, or names the run under way.
    public func startPush() -> String { "" }
    /// The run with this id once it is over; nil when there is none, or `timeout` has passed first.
    public func result(of run: String, timeout: Duration) async -> Run? { nil }
    /// The latest runs, newest first, the one under way among them.
    public func runs() -> [Run] { [] }
    /// Ends a run after the request in flight. False when it is not under way.
    public func cancel(run: String) -> Bool { false }

    /// Forgets rows of a table and all its pull tokens; with `force` its open operations too.
    public func purge(_ table: TableName, filter: String? = nil, force: Bool = false) async
        -> PurgeOutcome
    { .unknownTable }

    /// How everything stands.
    public func status() async -> EngineStatus? { nil }
    /// Switches the backend off, until then or until switched on, or on again.
    public func setMode(_ mode: EngineStatus.Mode) {}
    /// What the operator has set.
    public var currentSettings: SyncSettings { settings }
    /// Sets it anew.
    public func update(_ settings: SyncSettings) { self.settings = settings }
    /// Accepts another backend for a store that has work for an earlier one: the queue stays, all
    /// tokens are reset.
    public func rebind() async {}
}
