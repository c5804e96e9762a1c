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
            let page = try await world.store.serverRows(of: world.todo, after: last, limit: 2)
            for row in page?.items ?? [] {
                items.append(
                    Item(
                        id: row.id, columns: row.columns,
                        createdAt: row.createdAt.flatMap { Instant(parsing: $0) },
                        updatedAt: try #require(row.updatedAt.flatMap { Instant(parsing: $0) }),
                        version: try #require(row.version), deleted: row.deleted))
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

    @Test func `a conflict leaves the row that the backend has`() async throws {
        let world = try World()
        try await world.seed("a", #"{"n":1}"#)
        #expect(await world.engine.pull(world.todo).state == .complete)
        #expect(try await world.elsewhere("PATCH", "a", #"{"n":2}"#) == 200)
        try await world.update("a", #"{"n":3}"#)
        _ = await world.engine.sync()
        #expect(try await world.operations([.conflict]).count == 1)
        #expect(try await Self.known(world) == world.backend.items(in: world.todo))
    }
}
