import Storage
import TablesProtocol
import Testing

@testable import SyncCore

/// What of a queue an operator may have to be told.
@Suite struct OpenDecisionsTests {
    @Test func `what waits for a person is read with values of rows only on request`() async throws
    {
        let world = try World()
        try await world.insert("a")
        #expect(await world.engine.sync().state == .complete)
        #expect(try await world.elsewhere("PATCH", "a", #"{"text":"theirs"}"#) == 200)
        try await world.update("a", #"{"text":"mine"}"#)
        #expect(await world.engine.push().push?.conflicts == 1)
        let operation = try #require(try await world.open().first)
        var expected = OpenDecision(
            seq: operation.seq, table: "todoitem", itemID: "a", kind: .update, isConflict: true,
            lastAttemptAt: operation.lastAttemptAt)
        #expect(try await world.store.openDecisions(limit: 9, withValues: false) == [expected])
        expected.values = .init(title: operation.title, reason: operation.reason)
        #expect(try await world.store.openDecisions(limit: 9, withValues: true) == [expected])
        #expect(operation.lastAttemptAt != nil && operation.reason != nil)
        #expect(try await world.store.openDecisions(limit: 0, withValues: false) == [])
    }

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

    @Test func `only what could be sent has waited for long`() async throws {
        let world = try World()
        try await world.insert("a")
        #expect(await world.engine.sync().state == .complete)
        #expect(try await world.elsewhere("PATCH", "a", #"{"text":"theirs"}"#) == 200)
        try await world.update("a", #"{"text":"mine"}"#)
        #expect(await world.engine.push().push?.conflicts == 1)
        // A conflict waits for a person.
        let conflict = try #require(try await world.open().first)
        let later = Instant(milliseconds: conflict.createdAt.milliseconds + 3_600_000)
        #expect(try await world.store.longWaits(acceptedBefore: later) == [])
        try await world.insert("b")
        try await world.insert("c")
        #expect(
            try await world.store.longWaits(acceptedBefore: later) == [
                LongWait(table: "todoitem", count: 2)
            ])
        let accepted = try #require(try await world.open().last?.createdAt)
        #expect(
            try await world.store.longWaits(acceptedBefore: accepted).allSatisfy { $0.count < 2 })
        _ = try await world.store.updateTable(world.todo) { $0.pause = .pushes }
        #expect(try await world.store.longWaits(acceptedBefore: later) == [])
    }
}
