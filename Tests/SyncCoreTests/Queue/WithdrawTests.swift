import TablesProtocol
import Testing

@testable import SyncCore

/// A write that waits for the verdict leaves no operation after a refusal, unless another write is in it.
@Suite struct WithdrawTests {
    let fixture: StoreFixture
    var store: Store { fixture.store }
    init() throws { fixture = try StoreFixture() }

    private func refuse(maybeApplied: Bool = false) async throws -> OperationID {
        let operation = try #require(try await fixture.send())
        let outcome = SettledOutcome.quarantined(reason: "no", maybeApplied: maybeApplied)
        try await fixture.settle(operation.seq, outcome)
        return operation.id
    }

    private func expectBalance(discarded: Int64, open: Int) async throws {
        let ledger = try await store.ledger()
        #expect(ledger.balances && ledger.discarded == discarded && ledger.queue.open == open)
    }

    @Test func `a refused insert leaves only history, and its id is free`() async throws {
        try await fixture.insert("a")
        let id = try await refuse()
        #expect(try await store.withdraw(id))
        #expect(try await fixture.row("a")?.deleted == true)
        try await expectBalance(discarded: 1, open: 0)
        let entry = try await store.history(after: nil, limit: 9).items.first
        #expect(entry?.kind == .discarded && entry?.actor == .engine)
        try await fixture.insert("a", #"{"text":"better"}"#)
        #expect(try await fixture.row("a")?.columns.text == #"{"text":"better"}"#)
    }

    @Test func `a refused update restores the backend's row`() async throws {
        try await fixture.pull(try fixture.remote("a", #"{"text":"theirs"}"#, version: "v1"))
        try await fixture.update("a", #"{"text":"mine"}"#)
        #expect(try await store.withdraw(try await refuse()))
        let row = try await fixture.row("a")
        #expect(row?.columns.text == #"{"text":"theirs"}"# && row?.serverVersion == "v1")
        try await expectBalance(discarded: 1, open: 0)
    }

    @Test func `a conflict returns the backend's row, and its version is accepted`()
        async throws
    {
        let operation = try await fixture.conflict()
        #expect(try await store.withdraw(operation.id))
        let row = try #require(try await fixture.row("a"))
        #expect(row.serverVersion == "v2" && row.pending == nil)
        let again = await fixture.write(
            .update(row.id, try Columns(parsing: #"{"x":5}"#)), ifMatch: .versions(["v2"]))
        #expect(again.name == "updated")
    }

    @Test func `an operation with another write in it stays`() async throws {
        try await fixture.insert("a")
        try await fixture.update("a", #"{"text":"promised"}"#)
        #expect(try await !store.withdraw(try await refuse()))
        #expect(try await fixture.row("a")?.deleted == false)
        try await expectBalance(discarded: 0, open: 1)
    }

    @Test func `an operation whose first write is no longer in history stays`() async throws {
        try await fixture.insert("a")
        try await fixture.update("a", #"{"text":"promised"}"#)
        let id = try await refuse()
        try await store.write {
            try $0.run("DELETE FROM history WHERE id = (SELECT min(id) FROM history)")
        }
        #expect(try await !store.withdraw(id))
        #expect(try await fixture.row("a")?.columns.text == #"{"text":"promised"}"#)
        #expect(try await fixture.row("a")?.deleted == false)
        try await expectBalance(discarded: 0, open: 1)
    }

    @Test func `a write during the request stays`() async throws {
        try await fixture.insert("a")
        let operation = try #require(try await fixture.send())
        try await fixture.update("a", #"{"text":"promised"}"#)
        try await fixture.settle(
            operation.seq, .quarantined(reason: "no", maybeApplied: false))
        #expect(try await !store.withdraw(operation.id))
        #expect(try await fixture.row("a")?.columns.text == #"{"text":"promised"}"#)
    }

    @Test func `an operation that may have been applied, is in flight or not refused stays`()
        async throws
    {
        try await fixture.insert("a")
        let queued = try #require(try await fixture.chain("a").first)
        #expect(try await !store.withdraw(queued.id))
        #expect(try await !store.withdraw(try await refuse(maybeApplied: true)))
        try await expectBalance(discarded: 0, open: 1)
    }
}
