import Storage
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
        let outcome = PushOutcome.quarantined(reason: "no", maybeApplied: maybeApplied)
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
        #expect(try await store.withdraw(id, isWaiting: false))
        #expect(try await fixture.row("a")?.deleted == true)
        try await expectBalance(discarded: 1, open: 0)
        let entry = try await store.lists.history(after: nil, limit: 9).items.first
        #expect(entry?.kind == .discarded && entry?.actor == .engine)
        try await fixture.insert("a", #"{"text":"better"}"#)
        #expect(try await fixture.row("a")?.columns.text == #"{"text":"better"}"#)
    }

    @Test func `a refused update restores the backend's row`() async throws {
        try await fixture.pull(try fixture.remote("a", #"{"text":"theirs"}"#, version: "v1"))
        try await fixture.update("a", #"{"text":"mine"}"#)
        #expect(try await store.withdraw(try await refuse(), isWaiting: false))
        let row = try await fixture.row("a")
        #expect(row?.columns.text == #"{"text":"theirs"}"# && row?.serverVersion == "v1")
        try await expectBalance(discarded: 1, open: 0)
    }

    @Test func `a conflict returns the backend's row, and its version is accepted`()
        async throws
    {
        let operation = try await fixture.conflict()
        #expect(try await store.withdraw(operation.id, isWaiting: false))
        let row = try #require(try await fixture.row("a"))
        #expect(row.serverVersion == "v2" && row.pending == nil)
        let again = await fixture.write(
            .update(row.id, try Columns(parsing: #"{"x":5}"#)), ifMatch: .versions(["v2"]))
        #expect(again.name == "updated")
    }

    @Test func `a page that was requested before the refusal still brings the backend's row`()
        async throws
    {
        // The store has had an outcome before.
        try await fixture.insert("b")
        try await fixture.push { _ in .applied(row: nil, RowOrigin()) }
        try await fixture.pull(try fixture.remote("a", #"{"text":"theirs"}"#, version: "v1"))
        try await fixture.update("a", #"{"text":"mine"}"#)
        let change = try await store.read { try $0.counters.changeCount() }
        #expect(try await store.withdraw(try await refuse(), isWaiting: false))
        let later = try fixture.remote("a", #"{"text":"later"}"#, version: "v22")
        #expect(try await fixture.pull(later, asOf: change) == [.updated])
        let row = try await fixture.row("a")
        #expect(row?.columns.text == #"{"text":"later"}"# && row?.serverVersion == "v22")
    }

    @Test func `an operation with another write in it stays`() async throws {
        try await fixture.insert("a")
        try await fixture.update("a", #"{"text":"promised"}"#)
        #expect(try await !store.withdraw(try await refuse(), isWaiting: false))
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
        #expect(try await !store.withdraw(id, isWaiting: false))
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
        #expect(try await !store.withdraw(operation.id, isWaiting: false))
        #expect(try await fixture.row("a")?.columns.text == #"{"text":"promised"}"#)
    }

    @Test func `an operation that a person has discarded meanwhile counts as withdrawn`()
        async throws
    {
        try await fixture.insert("a")
        let id = try await refuse()
        _ = try await store.discard(id)
        #expect(try await store.withdraw(id, isWaiting: false))
        try await expectBalance(discarded: 1, open: 0)
    }

    @Test func `a repeated write has the first one's operation, also after that was withdrawn`()
        async throws
    {
        let id = try ItemID("a")
        try await fixture.pull(try fixture.remote("a", #"{"x":1}"#, version: "v1"))
        let before = await fixture.write(.update(id, try Columns(parsing: #"{"x":1}"#)))
        #expect(before.name == "updated" && before.operation == nil)
        let removed = try await fixture.delete("a").operation
        #expect(removed?.isOwn == true)
        let first = try #require(
            try await store.standing(fixture.todo, id, own: removed?.id))
        #expect(first.own?.kind == .delete && first.own == first.operation)
        #expect(first.server?.columns.text == #"{"x":1}"#)
        let refused = try await refuse()
        let again = try await fixture.delete("a")
        #expect(again.name == "deleted")
        #expect(again.operation == WrittenOperation(id: refused, isOwn: false))
        #expect(try await store.withdraw(refused, isWaiting: false))
        let second = try #require(
            try await store.standing(fixture.todo, id, own: again.operation?.id))
        #expect(second.operation == nil && second.own?.state == .discarded)
        #expect(second.server?.columns.text == #"{"x":1}"#)
    }

    @Test func `a write without effect has the operation with one of its columns, or none`()
        async throws
    {
        let id = try ItemID("a")
        try await fixture.pull(try fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        let first = await fixture.write(.update(id, try Columns(parsing: #"{"x":2}"#)))
        let made = try #require(first.operation)
        _ = try await fixture.send()
        let again = await fixture.write(.update(id, try Columns(parsing: #"{"x":2,"y":1}"#)))
        #expect(again.name == "updated")
        #expect(again.operation == WrittenOperation(id: made.id, isOwn: false))
        let other = await fixture.write(.update(id, try Columns(parsing: #"{"y":1}"#)))
        #expect(other.name == "updated" && other.operation == nil)
        #expect(try await fixture.chain("a").map(\.id) == [made.id])
    }

    @Test func `a write knows its operation behind another client's, whatever the clock says`()
        async throws
    {
        let id = try ItemID("a")
        try await fixture.pull(try fixture.remote("a", #"{"x":1}"#, version: "v1"))
        let theirs = await fixture.write(.update(id, try Columns(parsing: #"{"x":2}"#)))
        _ = try await fixture.send()
        fixture.clock.advance(milliseconds: -60_000)
        let mine = await fixture.write(.update(id, try Columns(parsing: #"{"x":3}"#)))
        let chain = try await fixture.chain("a").map(\.id)
        #expect(chain.count == 2)
        #expect(
            [theirs, mine].compactMap(\.operation).map { [$0.id, "\($0.isOwn)"] }
                == chain.map { [$0, "true"] })
    }

    @Test func `a write of two operations has the first one`() async throws {
        let id = try ItemID("a")
        try await fixture.pull(try fixture.remote("a", #"{"x":1}"#, version: "v1"))
        try await fixture.pull(
            try fixture.remote("a", #"{"x":1}"#, version: "v22", deleted: true))
        let restored = await fixture.write(.restore(id, try Columns(parsing: #"{"x":2}"#)))
        let chain = try await fixture.chain("a")
        #expect(restored.name == "updated" && chain.map(\.kind) == [.undelete, .replace])
        #expect(restored.operation?.id == chain.first?.id && restored.operation?.isOwn == true)
    }

    @Test func `a write that a policy discarded is known as such, with the backend's item`()
        async throws
    {
        try await fixture.pull(try fixture.remote("a", #"{"x":1}"#, version: "v1"))
        let id = try ItemID("a")
        let mine = await fixture.write(.update(id, try Columns(parsing: #"{"x":2}"#)))
        let theirs = try fixture.remote("a", #"{"x":"theirs"}"#, version: "v22")
        try await fixture.push { _ in .discarded(server: theirs, reason: "The policy.") }
        let standing = try #require(
            try await store.standing(fixture.todo, id, own: mine.operation?.id))
        #expect(standing.operation == nil && standing.own?.state == .discarded)
        #expect(standing.server == standing.item)
        #expect(standing.item.columns.text == #"{"x":"theirs"}"# && !standing.item.deleted)
    }

    @Test func `an operation that may have been applied, is in flight or not refused stays`()
        async throws
    {
        try await fixture.insert("a")
        let queued = try #require(try await fixture.chain("a").first)
        #expect(try await !store.withdraw(queued.id, isWaiting: false))
        #expect(try await !store.withdraw(try await refuse(maybeApplied: true), isWaiting: false))
        try await expectBalance(discarded: 0, open: 1)
    }
}
