import Backend
import GRDB
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import Storage
@testable import SyncCore

@Suite struct PushTests {
    private static let page = Response(
        status: .ok, headerFields: [.contentType: "text/html"],
        body: Array("<html>Sign in to the Wi-Fi</html>".utf8))

    @Test func `operations are sent in creation order across items`() async throws {
        let world = try World()
        let ids = (0..<40).map { "item\($0 * 7 % 40)" }
        for id in ids { try await world.insert(id) }
        #expect(await world.engine.push().state == .complete)
        #expect(try await world.backend.effects().map(\.itemID) == ids)
    }

    @Test func `an update sends the changed columns, the version and the operation's id`()
        async throws
    {
        let world = try World()
        try await world.insert("a")
        _ = await world.engine.push()
        let version = try #require(try await world.remote("a")?.version)
        try await world.update("a", #"{"text":"bread","rank":1}"#)
        let id = try #require(try await world.open().first?.id)
        _ = await world.engine.push()
        let patch = try #require(world.transport.sent.last { $0.head.method == .patch })
        #expect(String(decoding: patch.body, as: UTF8.self) == #"{"text":"bread"}"#)
        #expect(patch.head.headerFields[.ifMatch] == "\"\(version)\"")
        #expect(patch.head.headerFields[HTTPField.Name("Idempotency-Key") ?? .eTag] == id)
        #expect(patch.head.path == "/tables/todoitem/a")
    }

    @Test(arguments: ["insert", "update", "delete"], [0, 1, 2])
    func `a lost response never makes a write take effect twice`(kind: String, loss: Int)
        async throws
    {
        let faults: [FaultyTransport.Fault] = [
            .answerLost, .answered(Self.page), .answered(.refusal(500)),
        ]
        let world = try World()
        if kind != "insert" {
            try await world.insert("a")
            _ = await world.engine.push()
        }
        let before = kind == "insert" ? 0 : 1
        switch kind {
        case "insert": try await world.insert("a")
        case "update": try await world.update("a", #"{"text":"bread"}"#)
        default: try await world.delete("a")
        }
        world.transport.once(faults[loss]) { $0.head.method != .get }
        _ = await world.engine.push()
        #expect(try await world.open().first?.state == .unknown)
        world.clock.advance(by: .seconds(20))
        let run = await world.engine.push()
        #expect(run.state == .complete, "\(run)")
        #expect(try await world.backend.effectCount(world.todo, "a") == before + 1)
        #expect(try await world.open().isEmpty)
        let ledger = try await world.store.ledger()
        #expect(ledger.balances)
    }

    @Test func `a write that was never sent is sent again without being read back`() async throws {
        let world = try World()
        try await world.insert("a")
        world.transport.once(.notSent) { $0.head.method == .post }
        let run = await world.engine.push()
        #expect(run.state == .completeWithErrors, "\(run)")
        #expect(try await world.open().first?.state == .waiting)
        #expect(try await world.open().first?.maybeApplied == false)
        world.clock.advance(by: .seconds(20))
        world.transport.forget()
        _ = await world.engine.push()
        #expect(!world.transport.targets.contains { $0.contains("id%20eq") })
        #expect(try await world.backend.effectCount(world.todo, "a") == 1)
    }

    @Test func `an outcome that could not be stored is read back once the disk accepts writes`()
        async throws
    {
        let world = try World(settings: SyncSettings(triggers: [.manual, .afterWrites]))
        try await world.insert("a")
        let gate = Gate()
        world.transport.once(.held(gate)) { $0.head.method == .post }
        async let ended = world.engine.push()
        await gate.waitForArrival()
        try await world.store.write { try $0.run("PRAGMA query_only = 1") }
        gate.open()
        #expect(await ended.state == .failed)
        #expect(try await world.open().map(\.state) == [.sending])
        let writer = world.store.writer.connection.queue
        try await writer.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 0") }
        // No sync is requested: the loop finds by itself that the push ended.
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await world.engine.run() }
            try await world.pass { try await world.open().isEmpty }
            group.cancelAll()
        }
        #expect(try await world.backend.effectCount(world.todo, "a") == 1)
        #expect(try await world.store.ledger().balances)
    }

    @Test func `offline mode sends nothing`() async throws {
        let world = try World()
        try await world.insert("a")
        await world.engine.setMode(.offline(until: nil))
        let run = await world.engine.sync()
        #expect(run.state == .offline)
        #expect(world.transport.sent.isEmpty)
    }
}
