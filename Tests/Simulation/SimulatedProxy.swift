import Foundation
import GRDB
import Logging
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// One proxy: its store, its engine, its way to the backend, its clients, and what they were told.
final class SimulatedProxy {
    let number: Int
    let weather: Weather
    let clients: [DownstreamClient]
    private let seed: UInt64
    private let clock: ManualClock
    private let table: TableName
    private let parallelism: Int
    private let snapshot: Snapshot
    private var folder: String
    private var lives: UInt64 = 0
    private(set) var store: Store
    private(set) var engine: SyncEngine

    /// The answers that clients got to their last write of an item; nil for a deletion.
    var shown: [String: Columns?] = [:]
    /// The same, whole, until sync may change the item.
    var answers: [String: Item] = [:]
    /// Conflicts seen and not yet settled, and their items.
    var conflicts: [String: String] = [:]
    /// Items that were written here since their conflict was seen.
    var rewritten: Set<String> = []
    var acknowledged = 0
    var isRunning = false
    /// Nothing more can be written to the store's file.
    private(set) var isDiskFull = false

    /// The column that only this proxy's clients write.
    var column: String { "m\(number)" }

    init(
        _ number: Int, seed: UInt64, home: String, table: TableName, clock: ManualClock,
        parallelism: Int, direct: InProcessTransport, trace: Trace, bug: Bug?
    ) throws {
        (self.number, self.clock, self.table) = (number, clock, table)
        (self.parallelism, self.seed) = (parallelism, seed &+ UInt64(number) &* 1000)
        folder = "\(home)/\(number)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let snapshot = Snapshot()
        self.snapshot = snapshot
        weather = Weather(
            "p\(number)", direct, clock: clock, random: SeededRandom(self.seed &+ 2), trace: trace,
            bug: bug, onCrash: { snapshot.take() })
        clients = DownstreamClient.Kind.allCases.map { DownstreamClient($0) }
        (store, engine) = try Self.open(
            folder, seed: self.seed, table: table, clock: clock, parallelism: parallelism,
            weather: weather, snapshot: snapshot)
    }

    private static func open(
        _ folder: String, seed: UInt64, table: TableName, clock: ManualClock, parallelism: Int,
        weather: Weather, snapshot: Snapshot
    ) throws -> (Store, SyncEngine) {
        snapshot.watch(folder)
        let store = try Store(
            at: folder + "/store.sqlite", identity: "anonymous", clock: clock,
            ids: SeededRandom(seed &+ 3), workers: 1)
        store.onEvents { _ in _ = weather.crashes() }
        var log = Logger(label: "simulation")
        log.logLevel = .critical
        let engine = SyncEngine(
            store: store, transport: weather,
            backend: BackendConfiguration(
                address: try #require(BackendAddress("http://backend:1"))),
            settings: SyncSettings(
                triggers: [.manual], parallelism: parallelism, tables: [table], pageRows: 5),
            clock: clock, random: SeededRandom(seed &+ 4), log: log)
        return (store, engine)
    }

    /// The process is gone and starts again on what was on disk at that moment.
    func rebirth(bug: Bug?) throws {
        lives += 1
        let next = try #require(snapshot.taken())
        try store.close()
        // What a failed removal leaves behind goes with the simulation's folder.
        try? FileManager.default.removeItem(atPath: folder)
        folder = next
        if bug == .corrupts { try corrupt(next + "/store.sqlite") }
        (store, engine) = try Self.open(
            next, seed: seed &+ lives &* 10, table: table, clock: clock, parallelism: parallelism,
            weather: weather, snapshot: snapshot)
        weather.revive()
        // The connection that knew the limit is gone.
        isDiskFull = false
    }

    /// Lets the file grow no further, or as far as it likes.
    func fillDisk(_ isFull: Bool) async throws {
        try await store.writer.writeWithoutTransaction { db in
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(isFull ? pages : 1_073_741_823)")
        }
        isDiskFull = isFull
    }

    func close() {
        // A store that does not close goes with its folder.
        try? store.close()
    }

    /// A disk that keeps nothing from now on.
    func freezeDisk() { snapshot.take(freezing: true) }

    /// Does something to the file behind the store's back.
    func tamper(_ sql: String) async throws {
        try await store.writer.write { try $0.execute(sql: sql) }
    }

    private func corrupt(_ path: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try queue.close()
        var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        for page in stride(from: 3, to: bytes.count / 4096, by: 2) {
            for place in page * 4096..<page * 4096 + 600 { bytes[place] = 0xA5 }
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    // MARK: Looking

    /// More operations than any life has.
    private static let looked = 10_000

    func row(_ id: String) async throws -> Item? {
        let (table, id) = (table, try ItemID(id))
        let item = try await store.read { transaction in
            try transaction.table(table).flatMap { try transaction.item($0, id) }
        }
        return item?.deleted == true ? nil : item
    }

    /// The ledger, all open operations and all live rows at one moment.
    func look() async throws -> (Ledger, [OperationSummary], [String: Item]) {
        let table = table
        let limit = Self.looked
        return try await store.read { transaction in
            let open = try transaction.operations(
                OperationFilter(states: OperationState.open), after: 0, limit: limit)
            let summaries = open.items.map { $0.summary(identity: transaction.identity) }
            guard let record = try transaction.table(table) else {
                return (try transaction.ledger(), summaries, [:])
            }
            let items = try transaction.all(
                """
                SELECT id, columns, created_at, stamp, version, deleted FROM items
                WHERE table_id = ? AND deleted = 0
                """, [record.id]
            ).map { Item($0, idKind: .string) }
            let rows = Dictionary(uniqueKeysWithValues: items.map { ($0.id.text, $0) })
            return (try transaction.ledger(), summaries, rows)
        }
    }

    func rows() async throws -> [String: Item] { try await look().2 }

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
