import Foundation
import Logging
import ReferenceBackend
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// One life of clients, store, engine and backend, drawn from a seed on time that stands still.
///
/// Local clients write column `m`, others write column `e` at the backend, both write `s`: so a lost
/// or repeated write of either side shows in a column that only one side touches.
final class Simulation {
    let seed: UInt64
    let random: SeededRandom
    let clock = ManualClock()
    let backend: ReferenceBackend
    let direct: InProcessTransport
    let weather: Weather
    let table: TableName
    let parallelism: Int
    let home: String
    let folder: Mutex<String>
    let snapshot = Snapshot()
    var store: Store
    var engine: SyncEngine
    var model = Model()
    var faults: [String] = []
    private var counter = 0
    private var lives = 0

    init(seed: UInt64, flavour: BackendFlavour, parallelism: Int, canary: Weather.Canary?) throws {
        self.seed = seed
        self.parallelism = parallelism
        random = SeededRandom(seed)
        table = try #require(TableName("todoitem"))
        let memory = "/dev/shm"
        let root =
            FileManager.default.fileExists(atPath: memory) ? memory + "/" : NSTemporaryDirectory()
        home = root + "understudy-simulation-" + UUID().uuidString
        let first = home + "/0"
        try FileManager.default.createDirectory(atPath: first, withIntermediateDirectories: true)
        folder = Mutex(first)
        let clock = clock
        var options = BackendOptions(flavour: flavour)
        options.tables = [table: TableOptions()]
        backend = try ReferenceBackend(
            options: options,
            clock: {
                clock.advance(by: .milliseconds(1))
                return clock.now()
            }, random: SeededRandom(seed &+ 1))
        direct = InProcessTransport(backend)
        let snapshot = snapshot
        weather = Weather(
            direct, random: SeededRandom(seed &+ 2), canary: canary, onCrash: { snapshot.take() })
        (store, engine) = try Self.open(
            first, table: table, clock: clock, seed: seed, weather: weather,
            parallelism: parallelism, snapshot: snapshot)
    }

    deinit {
        try? store.close()
        // What a failed removal leaves behind is only a folder among the temporary ones.
        try? FileManager.default.removeItem(atPath: home)
    }

    private static func open(
        _ folder: String, table: TableName, clock: ManualClock, seed: UInt64, weather: Weather,
        parallelism: Int, snapshot: Snapshot
    ) throws -> (Store, SyncEngine) {
        snapshot.watch(folder)
        let store = try Store(
            at: folder + "/store.sqlite", identity: "anonymous", clock: clock,
            ids: SeededRandom(seed &+ UInt64(folder.utf8.count) &+ 3), workers: 1)
        store.onEvents { _ in _ = weather.crashes() }
        var log = Logger(label: "simulation")
        log.logLevel = .critical
        let engine = SyncEngine(
            store: store, transport: weather,
            backend: BackendConfiguration(
                address: try #require(BackendAddress("http://backend:1"))),
            settings: SyncSettings(triggers: [.manual], parallelism: parallelism), clock: clock,
            random: SeededRandom(seed &+ 4), log: log)
        return (store, engine)
    }

    /// The process is gone and starts again on what was on disk at that moment.
    func rebirth() throws {
        lives += 1
        weather.note("crash")
        let next = try #require(snapshot.taken())
        try store.close()
        (store, engine) = try Self.open(
            next, table: table, clock: clock, seed: seed &+ UInt64(lives), weather: weather,
            parallelism: parallelism, snapshot: snapshot)
        weather.revive()
    }

    /// Books what is wrong, with the part of the story that is about the item.
    func fault(_ text: String, _ id: String? = nil) {
        let story = weather.trace.filter { line in
            id.map { line.contains($0) || !line.contains("/") } ?? true
        }
        faults.append(([text] + story.suffix(id == nil ? 8 : 40)).joined(separator: "\n    "))
    }

    func nextValue() -> Int {
        counter += 1
        return counter
    }

    // MARK: Looking

    func row(_ id: String) async throws -> Item? {
        let (table, id) = (table, try ItemID(id))
        let item = try await store.read { transaction in
            try transaction.table(table).flatMap { try transaction.item($0, id) }
        }
        return item?.deleted == true ? nil : item
    }

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
    }
    private let state = Mutex(State())

    func watch(_ folder: String) { state.withLock { $0 = State(folder: folder) } }

    /// Copies the store's files to the next folder.
    func take() {
        state.withLock { state in
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
                Issue.record("no snapshot: \(error)")
            }
        }
    }

    func taken() -> String? { state.withLock { $0.taken } }
}
