import Foundation
import GRDB
import ReferenceBackend
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Stores as released versions left them, kept as SQL: four items pushed, then one in conflict, a
/// change that waits, a deletion and an insert that are queued, and the process killed. That of
/// version 4 is the one of version 2 after the migrations to 4.
@Suite struct MigrationTests {
    static let versions = [1, 2, 4]

    private func make(_ version: Int, at path: String) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let sql = try String(
            contentsOf: folder.appending(path: "Fixtures/version\(version).sql"), encoding: .utf8)
        // The rows come in the order of their tables' names.
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        // The text has transactions of its own.
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// The tables, indexes, triggers and views of a file.
    private func schema(_ path: String) throws -> [String: String] {
        try DatabaseQueue(path: path).read { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
            return Dictionary(uniqueKeysWithValues: rows.map { ($0["name"], $0["sql"]) })
        }
    }

    @Test(arguments: versions)
    func `a store of an earlier version is opened with all that it holds`(version: Int)
        async throws
    {
        let fixture = try StoreFixture()
        let path = fixture.folder + "/old.sqlite"
        try make(version, at: path)
        let store = try Store(
            at: path, identity: "anonymous", clock: fixture.clock,
            ids: StoreFixture.SeededIDs(1), workers: 1)
        #expect(try await store.check().isEmpty)
        let open = try await store.operations(OperationFilter(), after: nil, limit: 9).items
        #expect(open.map(\.itemID) == ["fought", "changed", "deleted", "inserted"])
        #expect(open.map(\.state) == [.conflict, .waiting, .queued, .queued])
        #expect(try await store.tables().first?.items == 4)
        #expect(try await store.tables().first?.parents == [])
        let conflict = try #require(
            try await store.conflicts(after: nil, limit: 9).items.first)
        #expect(conflict.fields.map(\.name) == ["text"])
        // It is what a new store would be.
        #expect(try schema(path) == schema(fixture.path))
        try store.close()
    }

    @Test(arguments: versions)
    func `what an earlier version queued is pushed by this one`(version: Int) async throws {
        let world = try World()
        for id in ["synced", "changed", "deleted", "fought"] {
            try await world.seed(id, #"{"text":"\#(id)","rank":1.50}"#)
        }
        let path = world.folder + "/old.sqlite"
        try make(version, at: path)
        let (store, engine) = try world.reborn(
            address: "http://127.0.0.1:18998", file: "old.sqlite")
        world.clock.advance(by: .seconds(700))
        let run = await engine.sync()
        #expect(run.push?.applied == 3, "\(run)")
        #expect(try await world.remote("deleted")?.deleted == true)
        #expect(try await world.remote("inserted") != nil)
        #expect(try await world.remote("changed")?.columns["text"] == .string("changed twice"))
        #expect(try await store.ledger().balances)
    }

    @Test(arguments: versions)
    func `a backup of an earlier version is restored in this one's form`(version: Int) async throws
    {
        let fixture = try StoreFixture()
        let old = fixture.folder + "/old.sqlite"
        try make(version, at: old)
        try fixture.store.close()
        try restore(old, to: fixture.path, fixture.clock) { contents in
            #expect(contents.faults.isEmpty && contents.items == 4)
            #expect(contents.ledger.queue.open == 4)
            #expect(contents.backend == "http://127.0.0.1:18998")
        }
        #expect(try await fixture.reopened().check().isEmpty)
    }

    private func restore(
        _ backup: String, to path: String, _ clock: any StoreClock, _ look: (StoreContents) -> Void
    ) throws {
        look(try Store.restore(backup, to: path, clock: clock))
    }
}
