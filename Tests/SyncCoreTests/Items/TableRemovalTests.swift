import Backend
import Foundation
import Storage
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

@Suite struct TableRemovalTests {
    /// Every table of the store that has rows of a table, with the number of those rows.
    private func rows(of table: Int64, in store: Store) async throws -> [String: Int64] {
        try await store.read { transaction in
            let names: [String] = try transaction.column(
                """
                SELECT s.name FROM sqlite_schema AS s WHERE s.type = 'table' AND EXISTS
                  (SELECT 1 FROM pragma_table_info(s.name) AS c WHERE c.name = 'table_id')
                """)
            var counts: [String: Int64] = [:]
            for name in names {
                let count = try transaction.integer(
                    "SELECT count(*) FROM \(name) WHERE table_id = ?", [table])
                if let count, count > 0 { counts[name] = count }
            }
            return counts
        }
    }

    private func id(_ name: TableName, in store: Store) async throws -> Int64? {
        try await store.read { try $0.tables.table(name)?.id }
    }

    @Test func `a removed table leaves no row, and the other tables stay as they are`() async throws
    {
        let world = try World()
        let other = try #require(TableName("note"))
        for id in ["a", "b", "c"] { try await world.insert(id) }
        let body = ItemBody(id: try ItemID("n"), columns: Columns(stored: #"{"text":"note"}"#))
        _ = await world.store.submit(LocalWrite(table: other, action: .insert(body)))
        _ = await world.engine.push()
        try await world.delete("b")
        _ = await world.engine.push()
        _ = await world.engine.pull(world.todo)
        let (first, second) = (
            try #require(try await id(world.todo, in: world.store)),
            try #require(try await id(other, in: world.store))
        )
        let kept = try await rows(of: second, in: world.store)
        #expect(try await rows(of: first, in: world.store).keys.contains("items"))
        let before = try await world.store.ledger()
        #expect(
            await world.engine.remove(world.todo) == .removed(items: 2, discarded: 0))
        #expect(try await rows(of: first, in: world.store) == [:])
        #expect(try await rows(of: second, in: world.store) == kept)
        #expect(try await world.store.ledger() == before)
        #expect(try await world.store.health.check() == [])
        #expect(try await world.store.tables().map(\.name) == ["note"])
        let entry = try await world.store.lastEntry()
        #expect(entry.summary == "Removed the table todoitem with 2 items, and gave up 0 changes.")
        #expect(!entry.undoable)
        // The backend still has them, and the next pull brings them back under a number of its own.
        _ = await world.engine.pull(world.todo)
        #expect(try await world.local("a") != nil)
        #expect(try await world.local("b") == nil)
        let again = try #require(try await id(world.todo, in: world.store))
        #expect(again > max(first, second))
    }

    @Test func `a table with open operations is left alone unless it is forced`() async throws {
        let world = try World()
        for id in ["a", "b"] { try await world.insert(id) }
        _ = await world.engine.push()
        try await world.update("a", #"{"text":"changed"}"#)
        try await world.insert("c")
        let before = try await world.store.ledger()
        #expect(await world.engine.remove(world.todo) == .refusedPending(2))
        #expect(try await world.store.ledger() == before)
        #expect(try await world.local("a")?.columns["text"] == .string("changed"))
        #expect(
            await world.engine.remove(world.todo, force: true)
                == .removed(items: 3, discarded: 2))
        let after = try await world.store.ledger()
        #expect(after.balances && after.accepted == before.accepted)
        #expect(after.discarded == before.discarded + 2 && after.queue.open == 0)
        #expect(try await world.store.health.check() == [])
        #expect(await world.engine.remove(world.todo, force: true) == .unknownTable)
    }

    @Test func `the number of a removed table is not used again, also after the last one went`()
        async throws
    {
        let fixture = try StoreFixture()
        var numbers: [Int64] = []
        for name in ["one", "two", "one", "three"] {
            let table = try #require(TableName(name))
            numbers.append(
                try await fixture.store.write { transaction in
                    let record = try transaction.tables.make(table)
                    try transaction.tables.remove(record)
                    return record.id
                })
        }
        #expect(numbers == [1, 2, 3, 4])
    }

    @Test func `an index of a removed table is dropped from the file`() async throws {
        let fixture = try StoreFixture()
        try await fixture.insert("a", #"{"text":"one","rank":1}"#)
        let todo = fixture.todo
        try await fixture.index(["rank"])
        #expect(try await fixture.store.builtIndexes() == ["items_index_1"])
        let outcome = try await fixture.store.write {
            try TableRemoval(transaction: $0).remove(todo, force: true)
        }
        #expect(outcome == .removed(items: 1, discarded: 1))
        #expect(try await fixture.store.builtIndexes() == [])
    }
}
