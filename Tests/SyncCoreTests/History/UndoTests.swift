import Synchronization
import TablesProtocol
import Testing

@testable import SyncCore

/// Undo never overwrites a value, and never reduces the ledger.
@Suite struct UndoTests {
    let fixture: StoreFixture
    var store: Store { fixture.store }
    init() throws { fixture = try StoreFixture() }

    private func entry(_ kind: HistoryKind) async throws -> HistoryEntry {
        let items = try await store.lists.history(after: nil, limit: 50).items
        return try #require(items.first { $0.kind == kind && $0.undoable })
    }

    private func undo(_ kind: HistoryKind) async throws -> OperationSummary? {
        let outcome = try await store.undo(try await entry(kind).id).outcome
        guard case .done(let operation) = outcome else {
            Issue.record("\(outcome)")
            return nil
        }
        #expect(try await store.ledger().balances)
        return operation
    }

    /// The backend applies the next operation as it was sent.
    private func take(_ columns: String, version: String) async throws {
        let row = try fixture.remote("a", columns, version: version)
        try await fixture.push { _ in .applied(row: row, RowOrigin(isOwnAnswer: true)) }
    }

    @Test func `undo of a sent insert deletes the row with the backend's columns`() async throws {
        try await fixture.insert("a", #"{"x":1}"#)
        try await take(#"{"x":1,"made":true}"#, version: "v1")
        #expect(try await undo(.write)?.kind == .delete)
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.kind) == [.delete] && chain[0].baseVersion == "v1")
        #expect(try await fixture.row("a")?.columns.text == #"{"x":1,"made":true}"#)
    }

    @Test func `undo of an insert that another writer has changed is a conflict`() async throws {
        try await fixture.insert("a", #"{"x":1}"#)
        try await take(#"{"x":1}"#, version: "v1")
        try await fixture.pull(fixture.remote("a", #"{"x":"theirs"}"#, version: "v22"))
        #expect(try await undo(.write)?.state == .conflict)
        let conflict = try await store.firstConflict()
        #expect(conflict.mineDeleted && conflict.server?.text == #"{"x":"theirs"}"#)
        #expect(conflict.base?.text == #"{"x":1}"#)
    }

    @Test func `undo of a sent change sets back only its own columns`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        try await take(#"{"x":2,"y":1}"#, version: "v22")
        try await fixture.pull(fixture.remote("a", #"{"x":2,"y":"theirs"}"#, version: "v333"))
        #expect(try await undo(.write)?.state == .queued)
        let chain = try await fixture.chain("a")
        #expect(chain[0].payload?.text == #"{"x":1}"# && chain[0].baseVersion == "v333")
        #expect(try await fixture.row("a")?.columns.text == #"{"x":1,"y":"theirs"}"#)
    }

    @Test func `undo of a change is a conflict if another writer has changed the column`()
        async throws
    {
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        try await take(#"{"x":2,"y":1}"#, version: "v22")
        try await fixture.pull(fixture.remote("a", #"{"x":"theirs","y":1}"#, version: "v333"))
        let operation = try #require(try await undo(.write))
        #expect(operation.state == .conflict)
        let conflict = try #require(try await store.lists.conflict(operation.id))
        #expect(conflict.base?.text == #"{"x":2,"y":1}"#)
        #expect(conflict.mine?.text == #"{"x":1,"y":1}"#)
        #expect(conflict.server?.text == #"{"x":"theirs","y":1}"#)
    }

    @Test func `undo of an older change is refused while a newer local one is open`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"x":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        let first = try await entry(.write)
        try await fixture.update("a", #"{"x":3}"#)
        guard case .refused = try await store.undo(first.id).outcome else {
            throw World.Failure("the newer change goes first")
        }
        #expect(try await fixture.row("a")?.columns.text == #"{"x":3}"#)
    }

    @Test func `undo of an older write of a sent operation is a conflict with the newer write`()
        async throws
    {
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        let first = try await entry(.write)
        try await fixture.update("a", #"{"x":3}"#)
        try await take(#"{"x":3,"y":1}"#, version: "v22")
        guard case .done(let operation) = try await store.undo(first.id).outcome else {
            throw World.Failure("it is not for a person to decide")
        }
        #expect(operation?.state == .conflict)
    }

    @Test func `undo of a discard restores the operation with its state and attempts`()
        async throws
    {
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        try await fixture.push { _ in .quarantined(reason: "Bad milk.", maybeApplied: false) }
        let refused = try #require(try await fixture.chain("a").first)
        _ = try await store.bulk(.discard, OperationFilter(states: [.quarantined]), dryRun: false)
        #expect(try await fixture.row("a")?.columns.text == #"{"x":1,"y":1}"#)
        #expect(try await undo(.discarded)?.state == .quarantined)
        let back = try #require(try await fixture.chain("a").first)
        #expect(back.reason == "Bad milk." && back.attempts == refused.attempts)
        #expect(back.payload == refused.payload && back.baseRow == refused.baseRow)
        #expect(back.baseVersion == "v1" && back.lastStatus == refused.lastStatus)
        let detail = try #require(try await store.lists.operation(back.id))
        #expect(detail.attempts.map(\.status) == [200])
        #expect(try await fixture.row("a")?.columns.text == #"{"x":2,"y":1}"#)
        let ledger = try await store.ledger()
        #expect(ledger.discarded == 1 && ledger.queue.quarantined == 1)
    }

    @Test func `a restored operation that becomes a conflict is recorded as every conflict is`()
        async throws
    {
        try await fixture.pull(fixture.remote("a", #"{"x":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        _ = try await store.discard(try #require(try await fixture.chain("a").first?.id))
        try await fixture.pull(fixture.remote("a", #"{"x":"theirs"}"#, version: "v22"))
        let needed = Mutex<[DecisionNeeded]>([])
        store.onDecisionNeeded { one in needed.withLock { $0.append(one) } }
        let operation = try #require(try await undo(.discarded))
        #expect(needed.withLock { $0.map(\.operation) } == [operation.id])
        let entries = try await store.lists.history(after: nil, limit: 50).items
        let conflicts = entries.filter { $0.kind == .conflict }
        #expect(conflicts.map(\.operationID) == [operation.id])
        #expect(conflicts.map { $0.before?.text } == [#"{"x":2}"#])
        #expect(conflicts.map { $0.after?.text } == [#"{"x":"theirs"}"#])
    }

    @Test
    func `a restored operation that is a conflict keeps the other columns of the present row`()
        async throws
    {
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        _ = try await store.discard(try #require(try await fixture.chain("a").first?.id))
        try await fixture.pull(
            fixture.remote("a", #"{"x":"theirs","y":"theirs"}"#, version: "v22"))
        let operation = try #require(try await undo(.discarded))
        #expect(operation.state == .conflict)
        let conflict = try #require(try await store.lists.conflict(operation.id))
        #expect(conflict.base?.text == #"{"x":1,"y":1}"#)
        #expect(conflict.mine?.text == #"{"x":2,"y":"theirs"}"#)
        #expect(conflict.server?.text == #"{"x":"theirs","y":"theirs"}"#)
        #expect(try await fixture.chain("a").map(\.baseVersion) == [nil])
    }

    @Test(arguments: [OperationKind.update, .delete])
    func `a discarded successor comes back over the backend's row, with its version`(
        _ kind: OperationKind
    ) async throws {
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        try await fixture.update("a", #"{"y":2}"#)
        let sent = try #require(try await fixture.send())
        try await fixture.settle(sent.seq, .unknown(reason: "Lost.", until: nil))
        if kind == .delete {
            try await fixture.delete("a")
        } else {
            try await fixture.update("a", #"{"x":2}"#)
        }
        let last = try #require(try await fixture.chain("a").last)
        #expect(last.successorOf == sent.seq && last.baseVersion == nil)
        _ = try await store.discard(last.id)
        let row = try fixture.remote("a", #"{"x":1,"y":2}"#, version: "v22")
        try await fixture.settle(sent.seq, .applied(row: row, RowOrigin(isOwnAnswer: true)))
        #expect(try await undo(.discarded)?.state == .queued)
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.kind) == [kind] && chain.map(\.successorOf) == [nil])
        #expect(chain[0].baseVersion == "v22" && chain[0].baseRow?.text == #"{"x":1,"y":2}"#)
        #expect(chain[0].payload?.text == (kind == .delete ? nil : #"{"x":2}"#))
        let mine = try #require(try await fixture.row("a"))
        #expect(mine.visible?.text == (kind == .delete ? nil : #"{"x":2,"y":2}"#))
        #expect(mine.shadow?.text == #"{"x":1,"y":2}"# && mine.serverVersion == "v22")
    }

    @Test func `a change that comes back keeps the later changes of its item`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        _ = try await store.discard(try #require(try await fixture.chain("a").first?.id))
        try await fixture.update("a", #"{"y":2}"#)
        try await take(#"{"x":1,"y":2}"#, version: "v22")
        #expect(try await undo(.discarded)?.state == .queued)
        #expect(try await fixture.row("a")?.columns.text == #"{"x":2,"y":2}"#)
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.payload?.text) == [#"{"x":2}"#])
        #expect(chain[0].baseRow?.text == #"{"x":1,"y":2}"# && chain[0].baseVersion == "v22")
    }

    @Test func `a change that the backend has by now is not sent again`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        _ = try await store.discard(try #require(try await fixture.chain("a").first?.id))
        try await fixture.pull(fixture.remote("a", #"{"x":2,"y":"theirs"}"#, version: "v22"))
        #expect(try await undo(.discarded) == nil)
        #expect(try await fixture.chain("a").isEmpty)
        let row = try #require(try await fixture.row("a"))
        #expect(row.visible?.text == #"{"x":2,"y":"theirs"}"# && row.pending == nil)
    }

    @Test func `a waiting change that comes back is due`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        try await fixture.push { _ in
            .waiting(reason: "Waits for the insert.", until: nil)
        }
        _ = try await store.discard(try #require(try await fixture.chain("a").first?.id))
        let back = try #require(try await undo(.discarded))
        #expect(back.state == .queued && back.reason == nil && back.attempts == 1)
        #expect(try await fixture.send()?.id == back.id)
    }

    @Test func `a change that a policy discarded comes back over the backend's row`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        let theirs = try fixture.remote("a", #"{"x":1,"y":"theirs"}"#, version: "v22")
        try await fixture.push { _ in .discarded(server: theirs, reason: "The policy.") }
        #expect(try await undo(.discarded)?.state == .queued)
        #expect(try await fixture.chain("a").map(\.baseVersion) == ["v22"])
        #expect(try await fixture.row("a")?.columns.text == #"{"x":2,"y":"theirs"}"#)
    }

    @Test func `a change that a policy discarded for an overlap comes back as a conflict`()
        async throws
    {
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        let theirs = try fixture.remote("a", #"{"x":"theirs","y":1}"#, version: "v22")
        try await fixture.push { _ in .discarded(server: theirs, reason: "The policy.") }
        let operation = try #require(try await undo(.discarded))
        #expect(operation.state == .conflict)
        let conflict = try #require(try await store.lists.conflict(operation.id))
        #expect(conflict.mine?.text == #"{"x":2,"y":1}"#)
        #expect(conflict.server?.text == #"{"x":"theirs","y":1}"#)
    }

    @Test func `a change that may have been applied comes back to be read back at once`()
        async throws
    {
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        let now = fixture.clock.now()
        try await fixture.push { _ in .unknown(reason: "Lost.", until: now) }
        let theirs = try fixture.remote("a", #"{"x":"theirs","y":1}"#, version: "v22")
        try await fixture.push { _ in .discarded(server: theirs, reason: "The policy.") }
        #expect(try await undo(.discarded)?.state == .unknown)
        let back = try #require(try await fixture.chain("a").first)
        #expect(back.maybeApplied && back.nextAttemptAt == fixture.clock.now())
        #expect(back.baseVersion == "v1" && back.payload?.text == #"{"x":2}"#)
        let row = try #require(try await fixture.row("a"))
        #expect(row.columns.text == #"{"x":2,"y":1}"#)
        #expect(row.shadow?.text == #"{"x":"theirs","y":1}"#)
    }

    @Test func `undo of a sent decision starts from the backend's newer row`() async throws {
        let operation = try await fixture.conflict()
        _ = try await store.resolve(operation.id, revision: operation.revision, .mine)
        try await take(#"{"x":2,"y":3,"z":2}"#, version: "v333")
        try await fixture.pull(
            fixture.remote("a", #"{"x":2,"y":"newer","z":2}"#, version: "v4444"))
        #expect(try await undo(.resolved)?.state == .queued)
        let chain = try await fixture.chain("a")
        #expect(chain[0].baseVersion == "v4444")
        #expect(chain[0].payload?.text == #"{"x":1,"z":3}"#)
        #expect(try await fixture.row("a")?.columns.text == #"{"x":1,"y":"newer","z":3}"#)
    }

    @Test func `a conflict that is opened again keeps counting its attempts`() async throws {
        let operation = try await fixture.conflict()
        _ = try await store.resolve(operation.id, revision: operation.revision, .mine)
        try await fixture.push { _ in .waiting(reason: "Busy.", until: nil) }
        let sent = try #require(try await fixture.chain("a").first)
        let again = try #require(try await undo(.resolved))
        #expect(again.attempts == sent.attempts && again.state == .conflict)
        _ = try await store.resolve(again.id, revision: again.revision, .mine)
        try await take(#"{"x":2,"y":3,"z":2}"#, version: "v333")
        #expect(try await store.ledger().applied == 1)
    }

    @Test func `undo of a write leaves columns that a decision removed from it`() async throws {
        let operation = try await fixture.conflict()
        let write = try await entry(.write)
        _ = try await store.resolve(operation.id, revision: operation.revision, .merged)
        try await take(#"{"x":2,"y":3,"z":3}"#, version: "v333")
        guard case .done(let undone?) = try await store.undo(write.id).outcome else {
            throw World.Failure("it cannot be undone")
        }
        #expect(undone.state == .conflict)
        let conflict = try #require(try await store.lists.conflict(undone.id))
        #expect(conflict.server?.text == #"{"x":2,"y":3,"z":3}"#)
    }

    @Test func `undo of "keep both" deletes the copy`() async throws {
        let operation = try await fixture.conflict()
        _ = try await store.resolve(operation.id, revision: operation.revision, .both)
        #expect(try await store.tables().first?.items == 2)
        #expect(try await undo(.resolved)?.state == .conflict)
        #expect(try await store.tables().first?.items == 1)
        let ledger = try await store.ledger()
        #expect(ledger.queue.open == 1 && ledger.queue.conflict == 1)
    }

    @Test func `a write after a decision stays when the conflict is opened again`()
        async throws
    {
        let operation = try await fixture.conflict()
        _ = try await store.resolve(operation.id, revision: operation.revision, .mine)
        try await fixture.update("a", #"{"y":"later"}"#)
        #expect(try await undo(.resolved)?.state == .conflict)
        let conflict = try #require(try await store.lists.conflict(operation.id))
        #expect(conflict.mine?.text == #"{"x":2,"y":"later","z":2}"#)
        #expect(conflict.server?.text == #"{"x":1,"y":3,"z":3}"#)
    }

    @Test func `a decision about a conflict that a pull has changed is refused`() async throws {
        let operation = try await fixture.conflict()
        try await fixture.pull(
            fixture.remote("a", #"{"x":1,"y":3,"z":"newer"}"#, version: "v333"))
        let outcome = try await store.resolve(
            operation.id, revision: operation.revision, .mine)
        guard case .changed(let current) = outcome else { throw World.Failure("\(outcome)") }
        #expect(current.revision > operation.revision && current.state == .conflict)
        let conflict = try #require(try await store.lists.conflict(operation.id))
        #expect(conflict.server?.text == #"{"x":1,"y":3,"z":"newer"}"#)
    }
}
