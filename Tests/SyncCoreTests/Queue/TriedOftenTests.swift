import Storage
import TablesProtocol
import Testing

@testable import SyncCore

@Suite struct TriedOftenTests {
    @Test func `open operations that were tried more than ten times are named`() async throws {
        let world = try World()
        for (id, attempts) in [("a", 10), ("b", 11), ("c", 30), ("d", 12), ("e", 13), ("f", 99)] {
            try await world.insert(id)
            try await world.store.write {
                try $0.run(
                    "UPDATE operations SET attempts = ?, reason = 'Why.' WHERE item_id = ?",
                    [attempts, id])
            }
        }
        let last = try #require(try await world.open().last)
        _ = try await world.store.discard(last.id, revision: last.revision)
        let ids = Dictionary(
            uniqueKeysWithValues: try await world.open().map { ($0.itemID, $0.id) })
        let expected =
            [("c", 30), ("e", 13), ("d", 12)].map { id, count in
                "The insert of todoitem “\(id)” was tried \(count) times (operation "
                    + "\(ids[id] ?? "")). Why."
            } + ["And 1 more were tried so often."]
        #expect(try await world.engine.status().warnings == expected)
        #expect(try world.contents().triedOften == expected)
    }
}
