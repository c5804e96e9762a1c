import Backend
import GRDB
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import Storage
@testable import SyncCore

/// Backends that assign their own id to an inserted row.
@Suite struct AssignedIDTests {
    private let world: World
    init() throws { world = try World() }

    /// The backend inserts the row with an id it assigns.
    private func assign(_ given: String, to asked: String) {
        world.transport.decide { request, _ in
            guard request.head.method == .post else { return nil }
            var columns = Columns(stored: String(decoding: request.body, as: UTF8.self))
            guard columns["id"]?.string == asked else { return nil }
            columns["id"] = .string(given)
            columns["version"] = .string("v1")
            columns["updatedAt"] = .string("2026-01-01T00:00:00.000Z")
            return .instead(
                Response(
                    status: .created, headerFields: [.contentType: "application/json"],
                    body: Array(columns.text.utf8)))
        }
    }

    @Test func `an item that the backend renames is found by both ids`() async throws {
        try await world.insert("mine")
        assign("theirs", to: "mine")
        let before = try #require(try await world.row("mine"))
        let run = await world.engine.push()
        #expect(run.state == .complete, "\(run)")
        let (byOld, byNew) = (try await world.local("mine"), try await world.local("theirs"))
        #expect(byOld?.id.text == "theirs" && byNew == byOld)
        #expect(byNew?.columns["text"] == .string("milk"))
        #expect(try await world.open().isEmpty)
        #expect(try await world.operations([.done]).map(\.itemID) == ["theirs"])
        // A client that syncs by updatedAt gets the old id as deleted and the new id.
        let todo = world.todo
        let rows = try await world.store.read { transaction in
            try transaction.all("SELECT id, deleted, stamp FROM items ORDER BY stamp") {
                ($0[0] as String, $0[1] as Bool, $0[2] as Int64)
            }
        }
        #expect(Set(rows.map(\.0)) == ["mine", "theirs"])
        #expect(rows.first { $0.0 == "mine" }?.1 == true)
        #expect(rows.allSatisfy { $0.2 > before.updatedAt.milliseconds })
        #expect(try await world.store.read { try $0.tables.table(todo) } != nil)
    }

    @Test func `a later change goes to the new id, whichever id the client uses`() async throws {
        try await world.insert("second")
        assign("given", to: "second")
        _ = await world.engine.push()
        try await world.update("second", #"{"text":"jam"}"#)
        let open = try #require(try await world.open().first)
        #expect(open.itemID == "given")
        world.transport.forget()
        world.transport.decide { _, _ in nil }
        _ = await world.engine.push()
        #expect(world.writes == ["PATCH /given"])
    }

    @Test func `an assigned id that another local change uses is refused`() async throws {
        try await world.insert("mine")
        try await world.insert("other")
        assign("other", to: "mine")
        _ = await world.engine.push()
        let refused = try #require(try await world.operations([.quarantined]).first)
        #expect(refused.itemID == "mine")
        #expect(refused.reason?.contains("other") == true)
        #expect(try await world.store.ledger().balances)
    }
}
