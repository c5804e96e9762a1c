import Backend
import HTTPMessage
import HTTPTypes
import Storage
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Scenarios of the .NET and the JavaScript SDK and of the third generation.
extension AcceptanceScenarioTests {
    // MARK: .NET

    /// The SDK throws. Here the delete follows the insert, whether the insert arrived or not.
    @Test(arguments: [false, true])
    func DeleteAsync_Throws_WhenInsertWasAttempted(arrived: Bool) async throws {
        let world = try World()
        try await world.insert("a")
        world.transport.once(arrived ? .answerLost : .vanished, where: Self.isWrite)
        _ = await world.engine.push()
        try await world.delete("a")
        for _ in 0..<3 {
            world.clock.advance(by: .seconds(700))
            _ = await world.engine.push()
        }
        #expect(try await world.open().isEmpty)
        #expect(try await world.remote("a")?.deleted ?? true)
    }

    @Test func Collapse_DeletesTheError_OnReplace() async throws {
        let world = try await seeded(["a"])
        try await world.update("a", #"{"text":"bad"}"#)
        world.transport.once(.instead(.refusal(400)), where: Self.isWrite)
        _ = await world.engine.push()
        let errors = try #require(TableName("MS_TableOperationErrors"))
        func count() async throws -> Int64 {
            try await world.store.read {
                try $0.integer("SELECT count(*) FROM \(errors.text)") ?? -1
            }
        }
        #expect(try await count() == 1)
        let columns = Columns(stored: #"{"text":"good"}"#)
        guard case .updated = await world.write(.replace(try ItemID("a"), columns)) else {
            throw World.Failure("not replaced")
        }
        #expect(try await count() == 0)
        #expect(try await world.open().first?.reason == nil)
        #expect(await world.engine.push().push?.applied == 1)
    }

    @Test
    func PullAsync_DoesNotUpdateDeltaToken_AfterEachResult_IfOrderByIsNotSupported()
        async throws
    {
        var options = BackendOptions(flavour: .mobileApps)
        options.stamps = .none
        let world = try World(options)
        for number in 0..<120 { try await world.seed("r\(number)", #"{"text":"x"}"#) }
        world.transport.decide { _, number in number >= 3 ? .notSent : nil }
        _ = await world.engine.pull(world.todo)
        let tokens = try await world.store.read {
            try $0.integer(
                "SELECT count(*) FROM tokens WHERE updated_at IS NOT NULL OR is_complete = 1")
        }
        #expect(tokens == 0)
        world.transport.decide { _, _ in nil }
        #expect(await world.engine.pull(world.todo).state == .complete)
        #expect(try await world.store.tables().first?.items == 120)
    }

    /// The SDK throws. Here a forced purge with a query discards only the operations of the matching rows.
    @Test
    func PurgeAsync_Throws_WhenPendingOperationsExist_AndForceIsTrue_AndQueryIsSpecified()
        async throws
    {
        let world = try await seeded(["a", "b"])
        try await world.update("a", #"{"text":"one"}"#)
        try await world.update("b", #"{"text":"two"}"#)
        let outcome = await world.engine.purge(world.todo, filter: "text eq 'one'", force: true)
        let entry = try await world.store.lists.history(after: nil, limit: 1).items.first?.id
        #expect(outcome == .purged(items: 1, discarded: 1, entry: entry))
        #expect(try await world.open().map(\.itemID) == ["b"])
        #expect(try await world.local("b")?.columns["text"] == .string("two"))
    }

    @Test func DoesNotUpsertAnObject_IfRecordIsPresentInOperationQueue() async throws {
        let world = try await seeded(["a"])
        try await world.update("a", #"{"text":"mine"}"#)
        try await world.elsewhere("PATCH", "a", #"{"text":"theirs"}"#)
        world.transport.decide { request, _ in
            Self.isWrite(request) ? .instead(.refusal(400)) : nil
        }
        _ = await world.engine.sync()
        #expect(try await world.local("a")?.columns["text"] == .string("mine"))
    }

    // MARK: JavaScript and others

    /// The SDK calls its handler five times. Here an operation on a row that keeps changing is sent twice
    /// in one pass, unchanged and merged, and does not delay other operations.
    @Test func `push.tests.js: the number of retries is bounded`() async throws {
        let world = try await seeded(["a", "b"])
        try await world.update("a", #"{"text":"mine"}"#)
        try await world.update("b", #"{"text":"mine"}"#)
        let count = Counter()
        world.transport.decide { request, _ in
            let path = request.head.path ?? ""
            let isWrite = request.head.method == .patch && path.hasSuffix("/a")
            guard isWrite || path.contains("filter") && path.contains("'a'") else { return nil }
            let row = #"{"id":"a","text":"old","n":\#(count.next()),"version":"v\#(count.next())"}"#
            return .instead(
                Response(
                    status: isWrite ? .preconditionFailed : .ok,
                    headerFields: [.contentType: "application/json"],
                    body: Array((isWrite ? row : "[\(row)]").utf8)))
        }
        _ = await world.engine.push()
        #expect(world.writes.count { $0 == "PATCH /a" } == 2)
        #expect(world.writes.contains("PATCH /b"))
        #expect(try await world.open().map(\.itemID) == ["a"])
    }

    @Test func `offline.functional.tests.js: conflicts of several records, handled and not`()
        async throws
    {
        let world = try await seeded(["a", "b", "c"])
        for id in ["a", "b", "c"] { try await world.update(id, #"{"text":"mine"}"#) }
        for id in ["a", "c"] { try await world.elsewhere("PATCH", id, #"{"text":"theirs"}"#) }
        let run = await world.engine.push()
        #expect(run.push?.conflicts == 2 && run.push?.applied == 1, "\(run)")
        let outcome = try await world.store.bulk(
            .resolve(.mine), OperationFilter(), dryRun: false)
        #expect(outcome == BulkResult(matched: 2, changed: 2))
        #expect(await world.engine.push().push?.applied == 2)
        for id in ["a", "b", "c"] {
            #expect(try await world.remote(id)?.columns["text"] == .string("mine"))
        }
    }

    @Test func `EntityTests.cs: insert, push, purge, pull`() async throws {
        let world = try World()
        try await world.insert("a", #"{"text":"round trip","rank":1.50}"#)
        _ = await world.engine.push()
        let before = try #require(try await world.local("a"))
        #expect(await world.engine.purge(world.todo) == .purged(items: 1, discarded: 0))
        #expect(try await world.row("a") == nil)
        #expect(await world.engine.pull(world.todo).pull.first?.applied == 1)
        let after = try #require(try await world.local("a"))
        #expect(after.columns.changedNames(from: before.columns).isEmpty)
    }

    @Test func `EntityTests.cs: an incremental pull after an insert at the server`() async throws {
        let world = try await seeded(["a", "b"])
        try await world.elsewhere("POST", nil, #"{"id":"c","text":"new"}"#)
        let run = await world.engine.pull(world.todo)
        #expect(run.pull.first?.applied == 1)
        #expect(try await world.local("c") != nil)
    }
}
