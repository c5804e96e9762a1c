import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// A request without a response may arrive long after it was sent again.
@Suite struct LateArrivalTests {
    private let world: World

    init() throws { world = try World() }

    private static let isPost: @Sendable (Request) -> Bool = { $0.head.method == .post }

    /// Inserts an item whose id the store makes, sends it into the void, and gives its id and the
    /// request that is still under way.
    private func insertIntoTheVoid() async throws -> (ItemID, Request) {
        let body = ItemBody(id: nil, columns: Columns(stored: #"{"text":"milk"}"#))
        guard case .inserted(let item, _) = await world.write(.insert(body)) else {
            throw World.Failure("insert")
        }
        world.transport.once(.vanished, where: Self.isPost)
        try await push()
        return (item.id, try #require(world.transport.sent.last(where: Self.isPost)))
    }

    private func push() async throws {
        _ = await world.engine.push()
        world.clock.advance(by: .seconds(700))
    }

    /// Delivers the delayed request; its response is dropped.
    private func arrive(_ request: Request) async throws {
        _ = try await InProcessTransport(world.backend).send(request)
        world.transport.decide { _, _ in nil }
    }

    @Test func `an edit after a repeated insert is not counted as sent with it`()
        async throws
    {
        let (id, late) = try await insertIntoTheVoid()
        try await world.update(id.text, #"{"text":"bread"}"#)
        world.transport.decide { request, _ in Self.isPost(request) ? .vanished : nil }
        // The row is read back, is missing, and the insert is sent and lost again.
        try await push()
        try await arrive(late)
        try await push()
        try await push()
        #expect(try await world.remote(id.text)?.columns["text"] == .string("bread"))
        #expect(try await world.open().isEmpty)
        #expect(try await world.backend.effectCount(world.todo, id.text) == 2)
    }

    @Test func `an insert sent again that meets its own earlier request is a success`()
        async throws
    {
        let (id, late) = try await insertIntoTheVoid()
        world.transport.decide { request, _ in Self.isPost(request) ? .notSent : nil }
        try await push()
        try await arrive(late)
        #expect(try await world.elsewhere("PATCH", id.text, #"{"text":"theirs"}"#) == 200)
        try await push()
        #expect(try await world.open().isEmpty)
        #expect(try await world.local(id.text)?.columns["text"] == .string("theirs"))
    }

    @Test func `a refused insert edited in place never takes the row of an earlier request for it`()
        async throws
    {
        let (id, late) = try await insertIntoTheVoid()
        let refusal = Response(status: .badRequest, body: Array(#"{"error":"no"}"#.utf8))
        world.transport.decide { request, _ in Self.isPost(request) ? .instead(refusal) : nil }
        try await push()
        #expect(try await world.open().map(\.state) == [.quarantined])
        try await world.update(id.text, #"{"text":"bread"}"#)
        world.transport.decide { request, _ in Self.isPost(request) ? .vanished : nil }
        try await push()
        try await arrive(late)
        try await push()
        #expect(try await world.open().map(\.state) == [.conflict])
        #expect(try await world.local(id.text)?.columns["text"] == .string("bread"))
    }

    @Test func `deleting a refused insert that may yet arrive deletes at the backend too`()
        async throws
    {
        let (id, late) = try await insertIntoTheVoid()
        let refusal = Response(status: .badRequest, body: Array(#"{"error":"no"}"#.utf8))
        world.transport.decide { request, _ in Self.isPost(request) ? .instead(refusal) : nil }
        try await push()
        try await world.delete(id.text)
        try await arrive(late)
        try await push()
        #expect(try await world.remote(id.text)?.deleted == true)
        #expect(try await world.open().isEmpty)
    }

    @Test func `deleting a refused insert deletes no row that another writer inserted with its id`()
        async throws
    {
        try await world.insert("a", #"{"text":"mine"}"#)
        world.transport.decide { request, _ in Self.isPost(request) ? .vanished : nil }
        try await push()
        let refusal = Response(status: .badRequest, body: Array(#"{"error":"no"}"#.utf8))
        world.transport.decide { request, _ in Self.isPost(request) ? .instead(refusal) : nil }
        try await push()
        #expect(try await world.open().map(\.state) == [.quarantined])
        try await world.delete("a")
        world.transport.decide { _, _ in nil }
        #expect(try await world.elsewhere("POST", nil, #"{"id":"a","text":"theirs"}"#) == 201)
        try await push()
        #expect(try await world.remote("a")?.deleted == false)
        #expect(try await world.remote("a")?.columns.text == #"{"text":"theirs"}"#)
        #expect(try await world.open().map(\.state) == [.conflict])
    }
}
