import Backend
import Foundation
import Storage
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// What clients hold of a store that a backup has replaced, or of a table that was removed.
@Suite struct RestoredStoreTests {
    let fixture: StoreFixture
    var backup: String { fixture.folder + "/backup.sqlite" }
    init() throws { fixture = try StoreFixture() }

    /// What a store gives to a client.
    private struct Given: Sendable {
        var stamp: Int64
        var id: Int64
    }

    private func next(_ store: Store, _ table: TableName? = nil) async throws -> Given {
        let table = table ?? fixture.todo
        return try await store.write { transaction in
            let record = try transaction.tables.make(table, idKind: .integer)
            return Given(
                stamp: try transaction.counters.nextStamp(record.id),
                id: try transaction.counters.nextProvisionalID(record.id).number ?? 0)
        }
    }

    /// As ``next(_:_:)`` while the clock is an hour ahead.
    private func nextAhead(_ store: Store) async throws -> Given {
        fixture.clock.advance(milliseconds: 3_600_000)
        let given = try await next(store)
        fixture.clock.advance(milliseconds: -3_600_000)
        return given
    }

    private let top = StoreLimits.largestProvisionalID

    // A restore blocks its thread, so these helpers are synchronous.

    private func restore(to path: String, replacing: String? = nil) throws {
        _ = try StoreOnDisk(at: path).restore(backup, replacing: replacing, clock: fixture.clock)
    }

    private func put(_ path: String, inPlaceOf world: World) throws {
        _ = try StoreOnDisk(at: world.folder + "/store.sqlite").restore(path, clock: world.clock)
    }

    private func opened(_ path: String) throws -> Store {
        try Store(
            at: path, identity: "anonymous", clock: fixture.clock, ids: StoreFixture.SeededIDs(5),
            workers: 1)
    }

    @Test func `a table that is made again gives what comes after its numbers before`()
        async throws
    {
        let store = fixture.store
        let first = try await next(store)
        let second = try await nextAhead(store)
        #expect([first.id, second.id] == [top, top - 1])
        let todo = fixture.todo
        _ = try await store.write { try TableRemoval(transaction: $0).remove(todo, force: true) }
        let third = try await next(store)
        #expect(third.stamp > second.stamp && third.id == top - 2)
    }

    @Test(arguments: [false, true])
    func `a restored store gives what comes after the numbers of the store that was there`(
        elsewhere: Bool
    ) async throws {
        _ = try await next(fixture.store)
        try await fixture.store.backup(to: backup)
        let last = try await nextAhead(fixture.store)
        #expect(last.id == top - 1)
        try fixture.store.close()
        let path = elsewhere ? fixture.folder + "/new.sqlite" : fixture.path
        try restore(to: path, replacing: elsewhere ? fixture.path : nil)
        let store = try opened(path)
        let next = try await next(store)
        #expect(next.stamp > last.stamp && next.id == top - 122_163_200)
        // Also in a table that the backup does not have.
        let name = try #require(TableName("other"))
        let other = try await self.next(store, name)
        #expect(other.stamp > last.stamp && other.id == top - 122_163_200)
        // The clock has not moved, and the same backup is restored again.
        try store.close()
        try restore(to: path)
        let again = try opened(path)
        let latest = try await self.next(again)
        #expect(latest.stamp > next.stamp && latest.id == top - 122_163_201)
    }

    @Test func `without the store that was there, ids begin below all that it can have given`()
        async throws
    {
        _ = try await next(fixture.store)
        try await fixture.store.backup(to: backup)
        let path = fixture.folder + "/new.sqlite"
        try restore(to: path)
        let next = try await next(try opened(path))
        #expect(next.id == top - 122_163_200 && next.id > 0)
    }

    @Test func `a row that was deleted for good since the backup does not come back`() async throws
    {
        var options = BackendOptions()
        options.dynamicTable = TableOptions(softDelete: false)
        let world = try World(options)
        try await world.fill(2)
        _ = await world.engine.pull(world.todo)
        let path = world.folder + "/backup.sqlite"
        try await world.store.backup(to: path)
        try await world.delete("r1000")
        _ = await world.engine.push()
        try world.store.close()
        try put(path, inPlaceOf: world)
        let (store, engine) = try world.reborn()
        #expect(await engine.pull(world.todo).state == .complete)
        let rows = try await store.read { transaction in
            try transaction.all("SELECT id, deleted FROM items ORDER BY id") { row in
                "\(row[0] as String) \(row[1] as Bool)"
            }
        }
        #expect(rows == ["r1000 true", "r1001 false"])
    }
}
