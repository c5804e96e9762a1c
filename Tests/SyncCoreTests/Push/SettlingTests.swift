import GRDB
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

@Suite struct SettlingTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    @Test func `success stores the backend's response as the row and closes the operation`()
        async throws
    {
        let item = try await fixture.insert("a", #"{"text":"x"}"#)
        let answer = try fixture.remote("a", #"{"text":"x","made":1}"#, version: "s1")
        #expect(try await fixture.push { _ in .applied(row: answer, RowOrigin()) } == .done)
        let row = try #require(try await fixture.row("a"))
        #expect(row.columns.text == #"{"text":"x","made":1}"#)
        #expect(row.serverVersion == "s1" && row.pending == nil)
        // The backend has filled a column, which clients see.
        #expect(row.version != item.version && row.stamp > item.updatedAt.milliseconds)
        #expect(try await fixture.store.ledger().applied == 1)
    }

    @Test func `a push that the backend stores unchanged is invisible to clients`() async throws {
        let item = try await fixture.insert("a", #"{"n":1}"#)
        var answer = try fixture.remote("a", #"{"n":1.0}"#, version: "s1")
        answer.createdAt = "2024-01-01T00:00:00Z"
        try await fixture.push { [answer] _ in .applied(row: answer, RowOrigin()) }
        let row = try #require(try await fixture.row("a"))
        #expect(row.item.version == item.version && row.item.updatedAt == item.updatedAt)
        #expect(row.item.createdAt == item.createdAt)
        #expect(row.serverVersion == "s1" && row.serverUpdatedAt == answer.updatedAt)
    }

    @Test func `a partial response is merged over what was sent`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        try await fixture.update("a", #"{"y":2}"#)
        let answer = try fixture.remote("a", #"{"y":2}"#, version: "v2")
        try await fixture.push { _ in .applied(row: answer, RowOrigin(isWhole: false)) }
        #expect(try await fixture.row("a")?.columns.text == #"{"x":1,"y":2}"#)
    }

    @Test func `an edit during the request follows it, based on the response`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        let sent = try #require(try await fixture.send())
        try await fixture.update("a", #"{"y":5}"#)
        #expect(try await fixture.chain("a").map(\.state) == [.sending, .queued])
        #expect(try await fixture.operation(sent.seq).payload?.text == #"{"x":2}"#)
        // Another client changed z meanwhile.
        let answer = try fixture.remote("a", #"{"x":2,"y":1,"z":9}"#, version: "v2")
        try await fixture.settle(sent.seq, .applied(row: answer, RowOrigin()))
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.kind) == [.update] && chain[0].successorOf == nil)
        #expect(chain[0].baseVersion == "v2" && chain[0].baseRow?.text == answer.columns.text)
        #expect(chain[0].payload?.text == #"{"y":5}"#)
        #expect(try await fixture.row("a")?.columns.text == #"{"x":2,"y":5,"z":9}"#)
    }

    /// Regression test for simulation seed 2110.
    @Test func `a change that becomes two keeps what was edited during its request`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        let sent = try #require(try await fixture.send())
        try await fixture.update("a", #"{"y":5}"#)
        // Deleted there, and the table's policy keeps the local change.
        let gone = try fixture.remote("a", #"{"x":1,"y":1}"#, version: "v2", deleted: true)
        try await fixture.settle(sent.seq, .rebased(onto: gone, reason: "Kept."))
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.kind) == [.undelete, .update, .update])
        #expect(chain.map(\.successorOf) == [nil, chain[0].seq, chain[1].seq])
        #expect(try await fixture.row("a")?.columns.text == #"{"x":2,"y":5}"#)
        #expect(try await fixture.store.ledger().balances)
    }

    @Test func `further edits during the request merge into the one that follows`() async throws {
        try await fixture.insert("a", #"{"x":1}"#)
        _ = try await fixture.send()
        try await fixture.update("a", #"{"x":2}"#)
        try await fixture.update("a", #"{"y":3}"#)
        try await fixture.delete("a")
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.kind) == [.insert, .delete] && chain[1].successorOf == chain[0].seq)
        let answer = try fixture.remote("a", #"{"x":1}"#, version: "s1")
        try await fixture.settle(chain[0].seq, .applied(row: answer, RowOrigin()))
        let next = try #require(try await fixture.chain("a").first)
        #expect(next.kind == .delete && next.baseVersion == "s1")
        #expect(try await fixture.row("a")?.deleted == true)
        try await fixture.push { _ in .applied(row: nil, RowOrigin()) }
        #expect(try await fixture.chain("a").isEmpty)
        #expect(try await fixture.store.ledger().balances)
    }

    @Test
    func `an insert after a delete that was sent becomes undelete and update where rows stay`()
        async throws
    {
        try await fixture.pull(fixture.remote("a", #"{"x":1}"#, version: "v1"))
        try await fixture.delete("a")
        let sent = try #require(try await fixture.send())
        try await fixture.insert("a", #"{"x":2}"#)
        let tombstone = try fixture.remote("a", #"{"x":1}"#, version: "v2", deleted: true)
        try await fixture.settle(sent.seq, .applied(row: tombstone, RowOrigin()))
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.kind) == [.undelete, .update])
        #expect(chain[1].successorOf == chain[0].seq)
        #expect(try await fixture.row("a")?.visible?.text == #"{"x":2}"#)
        #expect(try await fixture.store.ledger().balances)
    }

    @Test func `an insert after a delete stays an insert where the backend has no row`()
        async throws
    {
        try await fixture.pull(fixture.remote("a", #"{"x":1}"#, version: "v1"))
        try await fixture.delete("a")
        let sent = try #require(try await fixture.send())
        try await fixture.insert("a", #"{"x":2}"#)
        try await fixture.settle(sent.seq, .applied(row: nil, RowOrigin()))
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.kind) == [.insert] && chain[0].payload?.text == #"{"x":2}"#)
    }

    @Test func `an unknown outcome is kept, is due when its time comes and is never merged`()
        async throws
    {
        try await fixture.insert("a", #"{"x":1}"#)
        let sent = try #require(try await fixture.send())
        let later = Instant(milliseconds: fixture.clock.now().milliseconds + 5000)
        try await fixture.settle(sent.seq, .unknown(reason: "Timed out.", until: later))
        #expect(try await fixture.send() == nil)
        try await fixture.update("a", #"{"x":2}"#)
        try await fixture.delete("a")
        #expect(try await fixture.chain("a").map(\.kind) == [.insert, .delete])
        fixture.clock.advance(milliseconds: 5000)
        let again = try #require(try await fixture.send())
        #expect(again.seq == sent.seq && again.maybeApplied && again.attempts == 2)
    }

    @Test func `an attempt that never reached the network counts as never sent`() async throws {
        try await fixture.insert("a")
        let sent = try #require(try await fixture.send())
        try await fixture.update("a", #"{"n":1}"#)
        try await fixture.settle(
            sent.seq, .waiting(reason: "Refused.", until: nil))
        #expect(try await fixture.chain("a").map(\.kind) == [.insert])
        try await fixture.delete("a")
        #expect(try await fixture.chain("a").isEmpty)
        #expect(try await fixture.store.ledger().balances)
    }

    @Test func `a conflict keeps all three rows and stays one when mine is edited`() async throws {
        try await fixture.conflict()
        let first = try await fixture.store.firstConflict()
        #expect(first.base?.text == #"{"x":1,"y":1,"z":1}"#)
        #expect(first.mine?.text == #"{"x":2,"y":1,"z":2}"#)
        #expect(first.server?.text == #"{"x":1,"y":3,"z":3}"#)
        #expect(first.fields.map(\.name) == ["x", "y", "z"])
        #expect(first.fields.map(\.overlaps) == [false, false, true])
        #expect(first.proposed?.text == #"{"x":2,"y":3,"z":3}"#)
        try await fixture.update("a", #"{"x":7}"#)
        let again = try #require(try await fixture.store.lists.conflict(first.id))
        #expect(again.revision > first.revision && again.mine?.text == #"{"x":7,"y":1,"z":2}"#)
        guard case .item(_, state: .conflict) = fixture.get(try ItemID("a")) else {
            throw World.Failure("the item must say that it is in conflict")
        }
    }

    @Test func `what was written during the request becomes part of the conflict`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"x":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        let sent = try #require(try await fixture.send())
        try await fixture.delete("a")
        let theirs = try fixture.remote("a", #"{"x":3}"#, version: "v2")
        try await fixture.settle(sent.seq, .conflict(server: theirs, reason: "Changed."))
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.kind) == [.delete] && chain[0].state == .conflict)
        #expect(try await fixture.store.lists.conflict(chain[0].id)?.mineDeleted == true)
    }

    @Test func `a disjoint merge starts from the backend's row and is due again`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        let theirs = try fixture.remote("a", #"{"x":1,"y":5}"#, version: "v2")
        #expect(
            try await fixture.push { _ in .rebased(onto: theirs, reason: "Merged.") } == .queued)
        let operation = try #require(try await fixture.chain("a").first)
        #expect(operation.baseVersion == "v2" && operation.payload?.text == #"{"x":2}"#)
        #expect(try await fixture.row("a")?.columns.text == #"{"x":2,"y":5}"#)
    }

    @Test func `history shows what a policy lets the local change overwrite`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        let theirs = try fixture.remote("a", #"{"x":3,"y":5}"#, version: "v2")
        try await fixture.push { _ in .rebased(onto: theirs, reason: "Kept.", overwrites: true) }
        let entry = try await fixture.store.entry(.merged)
        #expect(entry.before?.text == #"{"x":3,"y":5}"#)
        #expect(entry.after?.text == #"{"x":2,"y":5}"#)
    }

    @Test func `an edit of a refused operation makes it due, a delete of a refused insert ends it`()
        async throws
    {
        try await fixture.insert("a", #"{"n":-1}"#)
        try await fixture.push { _ in .quarantined(reason: "400", maybeApplied: false) }
        #expect(try await fixture.send() == nil)
        try await fixture.update("a", #"{"n":1}"#)
        #expect(try await fixture.chain("a").map(\.state) == [.queued])
        try await fixture.push { _ in .quarantined(reason: "400", maybeApplied: false) }
        try await fixture.delete("a")
        #expect(try await fixture.chain("a").isEmpty)
        #expect(try await fixture.store.ledger().balances)
    }

    @Test func `a stuck operation does not delay other items`() async throws {
        try await fixture.insert("a")
        try await fixture.insert("b")
        try await fixture.push { _ in .quarantined(reason: "400", maybeApplied: false) }
        #expect(try await fixture.send()?.itemID.text == "b")
    }

    @Test func `what follows a stuck operation makes nothing due`() async throws {
        try await fixture.insert("a")
        let sent = try #require(try await fixture.send())
        try await fixture.update("a", #"{"n":1}"#)
        try await fixture.settle(sent.seq, .quarantined(reason: "?", maybeApplied: true))
        #expect(try await fixture.chain("a").map(\.state) == [.quarantined, .queued])
        #expect(try await fixture.store.read { try $0.dueOperations.hasQueued() } == false)
        #expect(try await fixture.send() == nil)
    }

    @Test func `a policy for the server gives mine up and keeps later edits`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        let sent = try #require(try await fixture.send())
        try await fixture.update("a", #"{"y":8}"#)
        let theirs = try fixture.remote("a", #"{"x":3,"y":1}"#, version: "v2")
        #expect(
            try await fixture.settle(sent.seq, .discarded(server: theirs, reason: "Policy."))
                == .discarded)
        #expect(try await fixture.row("a")?.columns.text == #"{"x":3,"y":8}"#)
        #expect(try await fixture.chain("a").first?.payload?.text == #"{"y":8}"#)
    }

    @Test func `a restart turns operations in flight into unknown`() async throws {
        try await fixture.insert("a")
        _ = try await fixture.send()
        let store = try fixture.reopened()
        let operation = try #require(
            try await store.lists.operations(OperationFilter(), after: nil, limit: 9).items.first)
        #expect(operation.state == .unknown && operation.maybeApplied)
        let detail = try #require(try await store.lists.operation(operation.id))
        #expect(detail.attempts.map(\.outcome) == ["unknown"])
        #expect(try await store.ledger().balances)
    }

    @Test func `an operation that changed since it was read is not sent`() async throws {
        try await fixture.insert("a")
        let read = try #require(try await fixture.chain("a").first)
        try await fixture.update("a", #"{"n":1}"#)
        let sent = try await fixture.store.write {
            try $0.attempts.markSending(read, AttemptStart(method: "POST", target: "/", body: nil))
        }
        #expect(sent == nil)
    }

    @Test func `a copy that lags does not take back the row that a change is in conflict with`()
        async throws
    {
        try await fixture.conflict()
        let old = try fixture.remote("a", #"{"x":1,"y":1,"z":1}"#, version: "v1")
        #expect(try await fixture.pull(old) == [.lagging])
        let row = try #require(try await fixture.row("a"))
        #expect(row.shadow?.text == #"{"x":1,"y":3,"z":3}"# && row.serverVersion == "v2")
        #expect(row.columns.text == #"{"x":2,"y":1,"z":2}"#)
    }
}

extension StoreFixture {
    func operation(_ seq: Int64) async throws -> TableOperation {
        try #require(try await store.read { try $0.queue.operation(seq: seq) })
    }

    /// An item in conflict: x changed by me, y by the backend, z by both.
    @discardableResult
    func conflict(_ id: String = "a") async throws -> TableOperation {
        try await pull(remote(id, #"{"x":1,"y":1,"z":1}"#, version: "v1"))
        try await update(id, #"{"x":2,"z":2}"#)
        let theirs = try remote(id, #"{"x":1,"y":3,"z":3}"#, version: "v2")
        try await push { _ in .conflict(server: theirs, reason: "Both changed z.") }
        return try #require(try await chain(id).first)
    }
}
