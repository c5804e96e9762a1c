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
            return .instead(.json(columns.text, 201))
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

    @Test func `an insert that is repeated under the id that was sent is refused, not sent again`()
        async throws
    {
        try await world.insert("mine")
        assign("theirs", to: "mine")
        _ = await world.engine.push()
        let item = try #require(try await world.local("theirs"))
        let columns = Columns(stored: #"{"text":"milk","rank":1}"#)
        let body = ItemBody(id: try ItemID("mine"), columns: columns)
        guard case .alreadyExists(let found) = await world.write(.insert(body)) else {
            throw World.Failure("It was inserted again.")
        }
        #expect(found == item)
        #expect(try await world.open().isEmpty)
        #expect(try await world.local("mine") == item)
        // Once the item is deleted, the id is free.
        try await world.delete("mine")
        world.transport.decide { _, _ in .notSent }
        try await world.insert("mine")
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
    @Test func `an insert answered with a known row is refused, and sent again on request`()
        async throws
    {
        try await world.seed("b", #"{"text":"theirs","note":"n"}"#)
        _ = await world.engine.pull(world.todo)
        let theirs = try #require(try await world.local("b"))
        let mine = Columns(stored: #"{"text":"mine"}"#)
        try await world.insert("c", mine.text)
        let answer = #"{"id":"b","text":"theirs","note":"n","version":"v1","deleted":false}"#
        world.transport.once(
            .instead(.json(answer, 201))
        ) { $0.head.method == .post }
        _ = await world.engine.push()
        let refused = try #require(try await world.operations([.quarantined]).first)
        #expect(refused.itemID == "c" && refused.maybeApplied)
        #expect(try await world.local("b") == theirs)
        #expect(try await world.local("c")?.columns == mine)
        // The row is read back first, and the backend does not have it.
        _ = try await world.store.retry(refused.id)
        #expect(await world.engine.push().state == .complete)
        #expect(try await world.open().isEmpty)
        #expect(try await world.remote("c")?.columns == mine)
        #expect(try await world.local("c")?.columns == mine)
        #expect(try await world.remote("b")?.columns == theirs.columns)
        #expect(try await world.local("b") == theirs)
        #expect(try await world.store.ledger().balances)
    }

    /// The answer to an insert of `c` names `b`, whose row a pull brought before or after the insert.
    private func settled(
        pulledFirst: Bool, pulled: String, answered: String
    ) async throws -> (OperationState, shown: [String: String]) {
        let fixture = try StoreFixture()
        let theirs = try fixture.remote("b", pulled, version: "v1")
        if pulledFirst { try await fixture.pull(theirs) }
        try await fixture.insert("c", #"{"text":"mine"}"#)
        let sent = try #require(try await fixture.send())
        if !pulledFirst { try await fixture.pull(theirs) }
        let answer = try fixture.remote("b", answered, version: "v1")
        let state = try await fixture.settle(sent.seq, .applied(row: answer, RowOrigin()))
        let page: ItemPage
        switch fixture.list(TableQuery()) {
        case .page(let found), .partial(let found): page = found
        case .beyondPart, .unknownTable, .invalid, .overBudget, .failed:
            throw World.Failure("no list")
        }
        #expect(try await fixture.store.ledger().balances)
        return (
            state,
            Dictionary(uniqueKeysWithValues: page.items.map { ($0.id.text, $0.columns.text) })
        )
    }

    @Test func `an inserted row that a pull brought first is the item`() async throws {
        let mine = #"{"text":"mine"}"#
        let (state, shown) = try await settled(pulledFirst: false, pulled: mine, answered: mine)
        #expect(state == .done && shown == ["b": mine])
    }

    @Test(arguments: [(true, "mine"), (true, "theirs"), (false, "theirs")])
    func `a row that was known before, or lacks what was sent, is another item`(
        pulledFirst: Bool, text: String
    ) async throws {
        let theirs = "{\"text\":\"\(text)\"}"
        let (state, shown) = try await settled(
            pulledFirst: pulledFirst, pulled: theirs, answered: theirs)
        #expect(state == .quarantined && shown == ["b": theirs, "c": #"{"text":"mine"}"#])
    }

    @Test func `an insert over a tombstone is not taken for a row that was known before it`()
        async throws
    {
        let fixture = try StoreFixture()
        let mine = #"{"text":"mine"}"#
        try await fixture.insert("c")
        try await fixture.delete("c")
        try await fixture.pull(try fixture.remote("b", mine, version: "v1"))
        try await fixture.insert("c", mine)
        let sent = try #require(try await fixture.send())
        let answer = try fixture.remote("b", mine, version: "v1")
        let state = try await fixture.settle(sent.seq, .applied(row: answer, RowOrigin()))
        #expect(state == .quarantined)
        #expect(try await fixture.row("b")?.columns.text == mine)
        #expect(try await fixture.row("c")?.columns.text == mine)
        #expect(try await fixture.chain("c").map(\.kind) == [.insert])
        #expect(try await fixture.store.ledger().balances)
    }
}
