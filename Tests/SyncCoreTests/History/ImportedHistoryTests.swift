import GRDB
import TablesProtocol
import Testing

@testable import SyncCore

@Suite struct ImportedHistoryTests {
    let fixture: StoreFixture
    var store: Store { fixture.store }
    init() throws { fixture = try StoreFixture() }

    /// Entries of another store, the latest first.
    private func entries(_ count: Int) throws -> [ImportedEntry] {
        try (1...count).reversed().map { number in
            ImportedEntry(
                at: Instant(milliseconds: 1_600_000_000_000 + Int64(number)), kind: .write,
                actor: .namedClient("phone"), table: fixture.todo, itemID: "i\(number)",
                operationID: "op\(number)", before: nil,
                after: try Columns(parsing: #"{"text":"\#(number)"}"#), summary: "It is new.")
        }
    }

    @Test func `imported entries come after the store's own, in their order`() async throws {
        try await fixture.insert("here")
        #expect(try await store.importHistory(try entries(3)) == [.added, .added, .added])
        try await fixture.insert("later")
        var seen: [HistoryEntry] = []
        var after: String?
        repeat {
            let page = try await store.history(after: after, limit: 2)
            #expect(page.total == 5)
            seen += page.items
            after = page.next
        } while after != nil
        #expect(seen.map(\.itemID) == ["later", "here", "i3", "i2", "i1"])
        let first = try #require(seen.last)
        #expect(first.at == Instant(milliseconds: 1_600_000_000_001))
        #expect(first.actor == .elsewhere(.namedClient("phone")))
        #expect(first.actor.kind == "client" && first.actor.clientName == "phone")
        #expect(first.operationID == "op1" && first.title == "1")
        #expect(first.after?.value["text"]?.string == "1")
        #expect(first.id < 0 && !first.undoable)
        #expect(
            try await store.undo(first.id).outcome == .refused(reason: "This cannot be undone."))
        #expect(try await store.ledger().accepted == 2)
    }

    @Test func `an entry is imported once, and never if it happened in this store`() async throws {
        _ = try await store.importHistory(try entries(3))
        let again = try await store.importHistory(try entries(4))
        #expect(again == [.added, .present, .present, .present])
        try await fixture.insert("here")
        let own = try #require(try await store.history(after: nil, limit: 1).items.first)
        let same = ImportedEntry(
            at: own.at, kind: own.kind, actor: own.actor, table: fixture.todo, itemID: own.itemID,
            operationID: own.operationID, before: nil, after: nil, summary: own.summary)
        #expect(try await store.importHistory([same]) == [.present])
        #expect(try await store.history(after: nil, limit: 9).total == 5)
    }

    @Test func `entries of tables that are not allowed are refused`() async throws {
        let fixture = try StoreFixture(tables: [])
        #expect(
            try await fixture.store.importHistory(try entries(2))
                == [.tableNotAllowed, .tableNotAllowed])
        #expect(try await fixture.store.tables().isEmpty)
    }

    @Test func `old imported entries are removed like others`() async throws {
        _ = try await store.importHistory(try entries(3))
        try await fixture.insert("here")
        try await store.write { _ = try Sweep(transaction: $0).run() }
        #expect(try await store.history(after: nil, limit: 9).items.map(\.itemID) == ["here"])
    }

    @Test(arguments: [
        Actor.client, .namedClient("phone"), .person, .engine, .elsewhere(.client),
        .elsewhere(.namedClient("elsewhere:x")),
    ])
    func `an actor is read as it was written`(actor: Actor) {
        #expect(Actor(rawValue: actor.rawValue) == actor)
    }
}
