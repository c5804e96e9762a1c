import Foundation
import Logging
import SyncCore
import Synchronization
import TablesProtocol

/// One proxy: its store, its engine, its way to the backend, its clients, and what they were told.
final class SimulatedProxy {
    let number: Int
    let transport: FaultyTransport
    let clients: [DownstreamClient]
    private let seed: UInt64
    private let clock: ManualClock
    private let table: TableName
    private let plan: Plan
    private let executor: SimulationExecutor
    private let plantedBug: (any PlantedBug)?
    private let snapshot: Snapshot
    private var folder: String
    private var restarts: UInt64 = 0
    private(set) var store: Store
    private(set) var engine: SyncEngine
    /// The engine's own loop, in a run where it syncs by itself.
    private var loop: Task<Void, Never>?

    /// The answers that clients got to their last write of an item; nil for a deletion.
    var shown: [String: Columns?] = [:]
    /// The same, whole, until sync may change the item.
    var answers: [String: Item] = [:]
    /// When, by the store, the last write of each item was made whose answer was booked.
    var booked: [String: Instant] = [:]
    /// Conflicts seen and not yet settled, and their items.
    var conflicts: [String: String] = [:]
    /// Items that were written here since their conflict was seen.
    var rewritten: Set<String> = []
    var acknowledged = 0
    var isRunning = false
    /// How long something was due, with nothing in the way, without an attempt.
    var waited = Duration.zero
    /// Nothing more can be written to the store's file.
    private(set) var isDiskFull = false

    /// The column that only this proxy's clients write.
    var column: String { "m\(number)" }

    init(
        _ number: Int, plan: Plan, home: String, table: TableName, clock: ManualClock,
        executor: SimulationExecutor, direct: InProcessTransport, trace: Trace,
        plantedBug: (any PlantedBug)?
    ) throws {
        (self.number, self.clock, self.table) = (number, clock, table)
        (self.plan, self.executor, self.plantedBug) = (plan, executor, plantedBug)
        seed = plan.seed &+ UInt64(number) &* 1000
        folder = "\(home)/\(number)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let snapshot = Snapshot()
        self.snapshot = snapshot
        transport = FaultyTransport(
            "p\(number)", direct, clock: clock, executor: executor,
            random: SeededRandom(self.seed &+ 2), trace: trace, plantedBug: plantedBug,
            onCrash: { snapshot.take() })
        clients = DownstreamClient.Kind.allCases.map { DownstreamClient($0) }
        (store, engine) = try Self.open(
            folder, seed: seed, table: table, clock: clock, plan: plan, executor: executor,
            transport: transport, snapshot: snapshot)
        executor.watch(store, of: number)
    }

    private static func open(
        _ folder: String, seed: UInt64, table: TableName, clock: ManualClock, plan: Plan,
        executor: SimulationExecutor, transport: FaultyTransport, snapshot: Snapshot
    ) throws -> (Store, SyncEngine) {
        snapshot.watch(folder)
        let store = try Store(
            at: folder + "/store.sqlite", identity: "anonymous",
            clock: executor.clock(of: clock),
            ids: SeededRandom(seed &+ 3), workers: 1)
        store.onEvents { _ in _ = transport.crashes() }
        var log = Logger(label: "simulation")
        log.logLevel = .critical
        let engine = SyncEngine(
            store: store, transport: transport,
            backend: BackendConfiguration(address: Simulation.address),
            settings: SyncSettings(
                triggers: plan.isAutomatic ? Set(Trigger.allCases) : [.manual],
                parallelism: plan.parallelism, tables: [table], pageRows: 5),
            clock: clock, random: SeededRandom(seed &+ 4), executor: executor, log: log)
        return (store, engine)
    }

    /// The process is gone and starts again on what was on disk at that moment.
    func restart() async throws {
        restarts += 1
        let next = try snapshot.taken()
        await stop()
        try store.close()
        // What a failed removal leaves behind goes with the simulation's folder.
        try? FileManager.default.removeItem(atPath: folder)
        folder = next
        try plantedBug?.damage(storeAt: next + "/store.sqlite")
        (store, engine) = try Self.open(
            next, seed: seed &+ restarts &* 10, table: table, clock: clock, plan: plan,
            executor: executor, transport: transport, snapshot: snapshot)
        executor.watch(store, of: number)
        transport.restart()
        // The connection that knew the limit is gone.
        isDiskFull = false
    }

    /// Sets the engine's own loop going, in a run where it syncs by itself.
    func start() {
        guard plan.isAutomatic, plantedBug?.startsLoops ?? true else { return }
        let engine = engine
        // Unstructured, since it runs until the proxy is stopped: `restart` and `close` await `stop`.
        loop = Task(executorPreference: executor) { await engine.run() }
    }

    /// Ends the engine's own loop and waits until it has ended.
    func stop() async {
        loop?.cancel()
        await loop?.value
        loop = nil
    }

    /// Lets the file grow no further, or as far as it likes.
    func fillDisk(_ isFull: Bool) async throws {
        try await store.holdSize(isFull)
        isDiskFull = isFull
    }

    /// Ends what runs and closes the store.
    func close() async {
        await stop()
        // A store that does not close goes with its folder.
        try? store.close()
    }

    /// A disk that keeps nothing from now on.
    func freezeDisk() { snapshot.take(freezing: true) }

    // MARK: Looking

    func row(_ id: String) async throws -> Item? { try await look().rows[id] }

    /// The ledger, all open operations and all live rows at one moment.
    func look() async throws -> Store.Sight { try await store.sight(of: table) }

    func rows() async throws -> [String: Item] { try await look().rows }

    func operations(_ states: Set<OperationState>) async throws -> [OperationSummary] {
        var all: [OperationSummary] = []
        var cursor: String?
        repeat {
            let page = try await store.operations(
                OperationFilter(states: states), after: cursor, limit: 500)
            all += page.items
            cursor = page.next
        } while cursor != nil
        return all
    }
}

/// The state on disk at the moment of a crash: every commit is in the file or its log by then.
final class Snapshot: Sendable {
    private struct State {
        var folder = ""
        var taken: String?
        var failure: (any Error)?
        var isFrozen = false
    }
    private let state = Mutex(State())

    func watch(_ folder: String) { state.withLock { $0 = State(folder: folder) } }

    /// Copies the store's files to the next folder; once frozen, the first copy is the last.
    func take(freezing: Bool = false) {
        state.withLock { state in
            if state.isFrozen { return }
            state.isFrozen = freezing
            let next = state.folder + "+"
            let files = FileManager.default
            do {
                try files.createDirectory(atPath: next, withIntermediateDirectories: true)
                for name in ["store.sqlite", "store.sqlite-wal"]
                where files.fileExists(atPath: "\(state.folder)/\(name)") {
                    try files.copyItem(atPath: "\(state.folder)/\(name)", toPath: "\(next)/\(name)")
                }
                state.taken = next
            } catch {
                state.failure = error
            }
        }
    }

    /// The folder of the latest copy.
    /// - Throws: what kept the copy from being made.
    func taken() throws -> String {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            return state.taken ?? state.folder
        }
    }
}
