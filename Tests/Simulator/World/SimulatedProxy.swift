import Foundation
import Logging
import SyncCore
import Synchronization
import TablesProtocol

/// One proxy: its store, its engine, its connection to the backend, its clients, and the answers that they
/// got.
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
    /// The task of the engine's loop, in an automatic run.
    private var loop: Task<Void, Never>?

    /// The columns in the answer to the last local write of each item; nil after a delete.
    var shown: [String: Columns?] = [:]
    /// The items in these answers, until sync may change the item.
    var answers: [String: Item] = [:]
    /// The store's time of the last recorded write of each item.
    var lastRecorded: [String: Instant] = [:]
    /// The open conflicts: operation id and item id.
    var conflicts: [String: String] = [:]
    /// Items that were written locally since their conflict was seen.
    var rewritten: Set<String> = []
    var acknowledged = 0
    var isRunning = false
    /// How long a due operation was not tried although nothing prevented it.
    var waited = Duration.zero
    /// Since when its transport was not clear, until it made a request while it was; nil while neither.
    var awaySince: Duration?
    /// Whether the store's file cannot grow.
    private(set) var isDiskFull = false

    /// The column that only this proxy's clients write.
    var column: String { "m\(number)" }

    init(
        _ number: Int, plan: Plan, rootFolder: String, table: TableName, clock: ManualClock,
        executor: SimulationExecutor, direct: InProcessTransport, trace: Trace,
        plantedBug: (any PlantedBug)?
    ) throws {
        (self.number, self.clock, self.table) = (number, clock, table)
        (self.plan, self.executor, self.plantedBug) = (plan, executor, plantedBug)
        seed = plan.seed &+ UInt64(number) &* 1000
        folder = "\(rootFolder)/\(number)"
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

    /// Restarts the process after a crash, with the files as they were at the crash.
    func restart() async throws {
        restarts += 1
        let next = try snapshot.taken()
        await stop()
        try store.close()
        // A failed removal leaves files that are removed with the simulation's folder.
        try? FileManager.default.removeItem(atPath: folder)
        folder = next
        try plantedBug?.damage(storeAt: next + "/store.sqlite")
        (store, engine) = try Self.open(
            next, seed: seed &+ restarts &* 10, table: table, clock: clock, plan: plan,
            executor: executor, transport: transport, snapshot: snapshot)
        executor.watch(store, of: number)
        transport.restart()
        // The limit belonged to the old connection.
        isDiskFull = false
    }

    /// Starts the engine's loop, in an automatic run.
    func start() {
        guard plan.isAutomatic, plantedBug?.startsLoops ?? true else { return }
        let engine = engine
        // An unstructured task, because it runs until `restart` or `close` awaits `stop`.
        loop = Task(executorPreference: executor) { await engine.run() }
    }

    /// Ends the engine's loop and waits for its end.
    func stop() async {
        loop?.cancel()
        await loop?.value
        loop = nil
    }

    /// Fills the disk, so that the file cannot grow, or frees it.
    func fillDisk(_ isFull: Bool) async throws {
        try await store.limitSize(isFull)
        isDiskFull = isFull
    }

    /// Ends the loop and closes the store.
    func close() async {
        await stop()
        // If the store cannot be closed, its files are removed with the folder.
        try? store.close()
    }

    /// Loses every later commit at the next crash; for tests of the checks.
    func freezeDisk() { snapshot.take(freezing: true) }

    // MARK: Reads

    func row(_ id: String) async throws -> Item? { try await contents().rows[id] }

    /// The ledger, the open operations and the rows that are not deleted, at one moment.
    func contents() async throws -> Store.Contents { try await store.contents(of: table) }

    func rows() async throws -> [String: Item] { try await contents().rows }

    func operations(_ states: Set<OperationState>) async throws -> [OperationSummary] {
        var all: [OperationSummary] = []
        var cursor: String?
        repeat {
            let page = try await store.lists.operations(
                OperationFilter(states: states), after: cursor, limit: 500)
            all += page.items
            cursor = page.next
        } while cursor != nil
        return all
    }
}

/// The files at the moment of a crash. Every commit is in the database file or its log.
final class Snapshot: Sendable {
    private struct State {
        var folder = ""
        var taken: String?
        var failure: (any Error)?
        var isFrozen = false
    }
    private let state = Mutex(State())

    func watch(_ folder: String) { state.withLock { $0 = State(folder: folder) } }

    /// Copies the store's files to the next folder. Once frozen, later calls do nothing.
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

    /// The folder of the last copy; the present one if there is no copy.
    /// - Throws: why the copy failed.
    func taken() throws -> String {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            return state.taken ?? state.folder
        }
    }
}
