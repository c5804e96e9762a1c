import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// What another writer replaces of what was written here has an entry.
@Suite struct ReplacedWritesTests {
    private func received(_ world: World) async throws -> [HistoryEntry] {
        try await world.store.lists.history(
            HistoryFilter(kinds: [.pulled]), after: nil, limit: 100
        ).items
    }

    private func isRow(_ row: Columns?, _ expected: String) throws -> Bool {
        try #require(row).changedNames(from: Columns(stored: expected)).isEmpty
    }

    private func pull(_ world: World) async throws {
        world.clock.advance(by: .seconds(60))
        #expect(await world.engine.pull(world.todo).state == .complete)
    }

    /// An item that was inserted here, changed here, and has reached the backend.
    private func sent(_ world: World) async throws {
        try await world.insert("a", #"{"text":"milk","rank":1}"#)
        try await world.update("a", #"{"text":"oat milk"}"#)
        #expect(await world.engine.push().state == .complete)
    }

    @Test
    func `a value that was written here and is another writer's now has an entry with both rows`()
        async throws
    {
        let world = try World()
        try await sent(world)
        _ = try await world.elsewhere("PATCH", "a", #"{"text":"soy milk"}"#)
        try await pull(world)
        let entry = try #require(try await received(world).first)
        #expect(try await received(world).count == 1)
        #expect(entry.summary == "Another writer changed what was written here: text.")
        #expect(
            [entry.actor == .engine, entry.itemID == "a", entry.table == "todoitem"]
                == [true, true, true])
        #expect(try isRow(entry.before, #"{"text":"oat milk","rank":1}"#))
        #expect(try isRow(entry.after, #"{"text":"soy milk","rank":1}"#))
        #expect(entry.title == "soy milk")
        // The value is the other writer's by now, so a further one replaces nothing of here.
        _ = try await world.elsewhere("PATCH", "a", #"{"text":"rice milk"}"#)
        try await pull(world)
        #expect(try await received(world).count == 1)
        // The rank is still the one from here.
        _ = try await world.elsewhere("PATCH", "a", #"{"rank":9}"#)
        try await pull(world)
        #expect(
            try await received(world).first?.summary
                == "Another writer changed what was written here: rank.")
    }

    @Test func `a column that was not written here, and a row that was not, have none`()
        async throws
    {
        let world = try World()
        try await sent(world)
        try await world.seed("b", #"{"text":"bread"}"#)
        _ = try await world.elsewhere("PATCH", "a", #"{"note":"theirs"}"#)
        try await pull(world)
        _ = try await world.elsewhere("PATCH", "a", #"{"note":"theirs again"}"#)
        _ = try await world.elsewhere("PATCH", "b", #"{"text":"rolls"}"#)
        _ = try await world.elsewhere("DELETE", "b")
        try await pull(world)
        #expect(try await received(world) == [])
    }

    @Test
    func `a deletion by another writer has one, and so has what comes back after one from here`()
        async throws
    {
        let world = try World()
        try await sent(world)
        _ = try await world.elsewhere("DELETE", "a")
        try await pull(world)
        let deleted = try #require(try await received(world).first)
        #expect(deleted.summary == "Another writer deleted what was written here.")
        #expect(try isRow(deleted.before, #"{"text":"oat milk","rank":1}"#))
        #expect(deleted.after == nil)

        try await world.insert("c")
        _ = await world.engine.push()
        try await world.delete("c")
        #expect(await world.engine.push().state == .complete)
        #expect(try await world.elsewhere("POST", "c") < 300)
        try await pull(world)
        #expect(
            try await received(world).first?.summary
                == "Another writer brought back what was deleted here.")
        #expect(try await received(world).count == 2)
    }

    @Test func `a decision for the backend's row is no value of here`() async throws {
        let world = try World()
        try await sent(world)
        try await world.update("a", #"{"text":"mine"}"#)
        _ = try await world.elsewhere("PATCH", "a", #"{"text":"theirs"}"#)
        _ = await world.engine.push()
        let conflict = try #require(try await world.open().first)
        _ = try await world.store.resolve(conflict.id, revision: conflict.revision, .server)
        _ = try await world.elsewhere("PATCH", "a", #"{"text":"theirs again"}"#)
        try await pull(world)
        #expect(try await world.local("a")?.columns["text"] == .string("theirs again"))
        #expect(try await received(world) == [])
    }

    @Test func `an entry is found by its item, its number and what a write did`() async throws {
        let world = try World()
        try await sent(world)
        try await world.insert("b")
        func found(_ change: (inout HistoryFilter) -> Void) async throws -> [String] {
            var filter = HistoryFilter()
            change(&filter)
            return try await world.store.lists.history(filter, after: nil, limit: 100).items.map {
                "\(HistoryWords.word($0.kind, $0.summary)) \($0.itemID ?? "")"
            }
        }
        #expect(try await found { $0.item = "a" } == ["sent a", "changed a", "inserted a"])
        #expect(
            try await found { ($0.kinds, $0.effects) = ([], [.inserted]) }
                == ["inserted b", "inserted a"])
        #expect(
            try await found { ($0.kinds, $0.effects) = ([.sent], [.changed]) }
                == ["sent a", "changed a"])
        let first = try await world.store.lists.history(after: nil, limit: 100).items.last
        #expect(try await found { $0.entry = first?.id } == ["inserted a"])
    }
}
