import Backend
import TablesProtocol
import Testing

@testable import SyncCore

/// The backend's rows as a store knows them.
@Suite struct ServerRowsTests {
    /// The rows that the store knows, as items of the backend.
    private static func known(_ world: World) async throws -> [Item] {
        var items: [Item] = []
        var last: String?
        repeat {
            let page = try await world.store.lists.serverRows(of: world.todo, after: last, limit: 2)
            for row in page?.items ?? [] {
                items.append(
                    Item(
                        id: ItemID(stored: row.id, kind: .string), columns: row.columns,
                        createdAt: row.createdAt.flatMap { Instant(parsing: $0) },
                        updatedAt: try #require(row.updatedAt.flatMap { Instant(parsing: $0) }),
                        version: row.version ?? "", deleted: row.deleted))
            }
            last = page?.next
        } while last != nil
        return items
    }

    @Test func `what clients changed is no part of them until the backend has it`() async throws {
        let world = try World()
        for id in ["changed", "deleted", "gone", "plain"] {
            try await world.seed(id, #"{"n":1.50,"text":"\#(id)"}"#)
        }
        #expect(try await world.elsewhere("DELETE", "gone") < 300)
        #expect(await world.engine.pull(world.todo).state == .complete)
        let before = try await world.backend.items(in: world.todo)
        #expect(before.count == 4)
        #expect(try await Self.known(world) == before)

        try await world.update("changed", #"{"n":2}"#)
        try await world.update("changed", #"{"n":3}"#)
        try await world.delete("deleted")
        try await world.insert("new")
        #expect(try await Self.known(world) == before)

        #expect(await world.engine.sync().state == .complete)
        let after = try await world.backend.items(in: world.todo)
        #expect(after.count == 5 && after != before)
        #expect(try await Self.known(world) == after)
    }

    /// The rows that this store has deleted and that the backend has given no more, with the stamp before.
    private static func deletedSince(_ world: World) async throws -> [String: String?] {
        let page = try await world.store.lists.serverRows(of: world.todo, after: nil, limit: 100)
        let rows = (page?.items ?? []).filter(\.deletedSince)
        #expect(rows.filter { !$0.deleted }.isEmpty)
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0.updatedAt) })
    }

    @Test(arguments: [true, false])
    func `a row that was deleted here is one of them until the backend gives it`(
        deletesSoftly: Bool
    ) async throws {
        let world = try World(.mobileApps, TableOptions(softDelete: deletesSoftly))
        for id in ["a", "b", "c"] { try await world.seed(id, #"{"n":1}"#) }
        #expect(await world.engine.pull(world.todo).state == .complete)
        let stamps = try await world.store.lists.serverRows(of: world.todo, after: nil, limit: 100)?
            .items
            .map(\.updatedAt)
        for id in ["a", "b"] { try await world.delete(id) }
        #expect(try await Self.deletedSince(world).isEmpty)
        #expect(await world.pushWithoutLearning().state == .complete)
        let deleted = try await Self.deletedSince(world)
        #expect(deleted == ["a": stamps?[0], "b": stamps?[1]])

        // A new item with the same id is not sent, nor is the one that was deleted before it was sent.
        try await world.insert("a", #"{"n":2}"#)
        try await world.delete("a")
        try await world.insert("b", #"{"n":2}"#)
        #expect(try await Self.deletedSince(world) == deleted)
        _ = await world.engine.sync()
        let there = try await world.backend.items(in: world.todo)
        if deletesSoftly {
            // The pull brings what the backend kept.
            #expect(try await Self.deletedSince(world).isEmpty)
            #expect(try await Self.known(world) == there)
        } else {
            #expect(try await Self.deletedSince(world) == ["a": stamps?[0]])
            #expect(try await Self.known(world).filter { $0.id.text != "a" } == there)
        }
    }

    @Test func `a delete without a version does not tell which row it removed`() async throws {
        let world = try World(.mobileApps, TableOptions(softDelete: false))
        for id in ["a", "b"] { try await world.seed(id, #"{"n":1}"#) }
        #expect(await world.engine.pull(world.todo).state == .complete)
        _ = try await world.store.updateTable(world.todo) { $0.unconditionalPolicy = .client }
        #expect(try await world.elsewhere("PATCH", "a", #"{"n":2}"#) == 200)
        #expect(try await world.elsewhere("DELETE", "b") < 300)
        for id in ["a", "b"] { try await world.delete(id) }
        #expect(await world.engine.push().state == .complete)
        #expect(try await world.backend.items(in: world.todo).isEmpty)
        #expect(try await Self.deletedSince(world) == ["a": nil, "b": nil])
    }
}
