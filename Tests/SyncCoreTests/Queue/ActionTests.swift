import GRDB
import TablesProtocol
import Testing

@testable import SyncCore

@Suite struct ActionTests {
    let fixture: StoreFixture
    var store: Store { fixture.store }
    init() throws { fixture = try StoreFixture() }

    struct Choice: Sendable, CustomStringConvertible {
        let resolution: Resolution
        let row: String
        let payload: String?
        var description: String { "\(resolution)".prefix { $0 != "(" }.description }
    }

    static let choices = [
        Choice(resolution: .mine, row: #"{"x":2,"y":3,"z":2}"#, payload: #"{"x":2,"z":2}"#),
        Choice(resolution: .server, row: #"{"x":1,"y":3,"z":3}"#, payload: nil),
        Choice(resolution: .merged, row: #"{"x":2,"y":3,"z":3}"#, payload: #"{"x":2}"#),
        Choice(resolution: .both, row: #"{"x":1,"y":3,"z":3}"#, payload: nil),
        Choice(
            resolution: .edited(Columns(stored: #"{"z":9}"#)),
            row: #"{"x":2,"y":3,"z":9}"#, payload: #"{"x":2,"z":9}"#),
        Choice(
            resolution: .edited(Columns(stored: #"{"x":null,"y":3,"z":3}"#)),
            row: #"{"x":null,"y":3,"z":3}"#, payload: #"{"x":null}"#),
    ]

    @Test(arguments: choices)
    func `a conflict becomes what a person chose`(_ choice: Choice) async throws {
        let operation = try await fixture.conflict()
        let outcome = try await store.resolve(
            operation.id, revision: operation.revision, choice.resolution)
        #expect(outcome.isDone)
        #expect(try await fixture.row("a")?.columns.text == choice.row)
        let first = try await fixture.chain("a").first
        #expect(first?.payload?.text == choice.payload)
        #expect(first == nil || (first?.state == .queued && first?.baseVersion == "v2"))
        let ledger = try await store.ledger()
        #expect(ledger.balances)
        if case .both = choice.resolution {
            #expect(ledger.discarded == 1 && ledger.queue.queued == 1)
            let copy = try #require(
                try await store.lists.operations(OperationFilter(), after: nil, limit: 9).items
                    .first)
            #expect(copy.kind == .insert && copy.itemID != "a")
        }
    }

    @Test(arguments: choices)
    func `a resolution can be undone from history`(_ choice: Choice) async throws {
        let operation = try await fixture.conflict()
        _ = try await store.resolve(
            operation.id, revision: operation.revision, choice.resolution)
        let history = try await store.lists.history(after: nil, limit: 50).items
        let entry = try #require(history.first { $0.kind == .resolved })
        #expect(entry.actor == .person)
        let outcome = try await store.undo(entry.id).outcome
        guard case .done(let again?) = outcome else { throw World.Failure("\(outcome)") }
        // The conflict is open again, with all three versions and nothing to send.
        let before = try #require(try await store.lists.conflict(again.id))
        #expect(before.base?.text == #"{"x":1,"y":1,"z":1}"#)
        #expect(before.mine?.text == #"{"x":2,"y":1,"z":2}"#)
        #expect(before.server?.text == #"{"x":1,"y":3,"z":3}"#)
        #expect(before.fields.filter(\.overlaps).map(\.name) == ["z"])
        let ledger = try await store.ledger()
        #expect(ledger.balances && ledger.queue.open == 1 && ledger.queue.conflict == 1)
    }

    @Test func `a stale resolution is answered with the operation as it is`() async throws {
        let operation = try await fixture.conflict()
        try await fixture.update("a", #"{"x":4}"#)
        let outcome = try await store.resolve(
            operation.id, revision: operation.revision, .mine)
        guard case .changed(let current) = outcome else { throw World.Failure("\(outcome)") }
        #expect(current.revision > operation.revision && current.state == .conflict)
    }

    @Test(arguments: [false, true])
    func `mine against a row that the backend deleted brings it back`(_ soft: Bool) async throws {
        try await fixture.pull(fixture.remote("a", #"{"x":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        let theirs =
            try soft
            ? fixture.remote("a", #"{"x":1}"#, version: "v2", deleted: true) : nil
        try await fixture.push { _ in .conflict(server: theirs, reason: "Deleted there.") }
        let operation = try #require(try await fixture.chain("a").first)
        _ = try await store.resolve(operation.id, revision: operation.revision, .mine)
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.kind) == (soft ? [.undelete, .update] : [.insert]))
        #expect(try await fixture.row("a")?.visible?.text == #"{"x":2}"#)
        #expect(try await store.ledger().balances)
    }

    @Test func `a delete kept against a changed row names the new version`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"x":1}"#, version: "v1"))
        try await fixture.delete("a")
        let theirs = try fixture.remote("a", #"{"x":3}"#, version: "v2")
        try await fixture.push { _ in .conflict(server: theirs, reason: "Changed there.") }
        let operation = try #require(try await fixture.chain("a").first)
        let merged = try await store.resolve(
            operation.id, revision: operation.revision, .merged)
        guard case .refused = merged else { throw World.Failure("a deletion cannot be merged") }
        _ = try await store.resolve(operation.id, revision: operation.revision, .mine)
        let kept = try #require(try await fixture.chain("a").first)
        #expect(kept.kind == .delete && kept.baseVersion == "v2" && kept.state == .queued)
    }

    @Test func `retry makes a refused operation due and an unsure one unknown`() async throws {
        try await fixture.insert("a")
        try await fixture.push { _ in .quarantined(reason: "400", maybeApplied: false) }
        let first = try #require(try await fixture.chain("a").first)
        _ = try await store.retry(first.id, revision: first.revision)
        #expect(try await fixture.chain("a").first?.state == .queued)
        try await fixture.push { _ in .quarantined(reason: "Ambiguous.", maybeApplied: true) }
        _ = try await store.retry(first.id)
        let again = try #require(try await fixture.chain("a").first)
        #expect(again.state == .unknown && again.maybeApplied)
        #expect(try await store.retry("nobody") == .notFound)
    }

    @Test func `an operation in flight cannot be discarded, its successor is discarded first`()
        async throws
    {
        try await fixture.pull(fixture.remote("a", #"{"x":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        let sent = try #require(try await fixture.send())
        guard case .refused = try await store.discard(sent.id) else {
            throw World.Failure("an operation on its way cannot be taken back")
        }
        try await fixture.update("a", #"{"x":3}"#)
        try await fixture.settle(sent.seq, .unknown(reason: "?", until: nil))
        guard case .refused = try await store.discard(sent.id) else {
            throw World.Failure("the later change goes first")
        }
        let follower = try #require(try await fixture.chain("a").last)
        _ = try await store.discard(follower.id)
        #expect(try await fixture.row("a")?.columns.text == #"{"x":2}"#)
        _ = try await store.discard(sent.id)
        #expect(try await fixture.row("a")?.columns.text == #"{"x":1}"#)
        #expect(try await store.ledger().discarded == 2)
    }

    @Test func `an edit changes what is sent`() async throws {
        try await fixture.insert("a", #"{"n":-1,"t":"x"}"#)
        try await fixture.push { _ in .quarantined(reason: "400", maybeApplied: false) }
        let operation = try #require(try await fixture.chain("a").first)
        let columns = try Columns(parsing: #"{"n":1}"#)
        _ = try await store.edit(operation.id, revision: operation.revision, columns: columns)
        let edited = try #require(try await fixture.chain("a").first)
        #expect(edited.state == .queued && edited.payload?.text == #"{"n":1,"t":"x"}"#)
        guard
            case .changed = try await store.edit(
                operation.id, revision: operation.revision, columns: columns)
        else { throw World.Failure("the revision is an old one") }
    }

    @Test func `undo before sending restores the row, afterwards it is a new operation`()
        async throws
    {
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        let entry = try await store.lastEntry()
        #expect(entry.kind == .write && entry.undoable && entry.before?.text == #"{"x":1,"y":1}"#)
        guard case .done(nil) = try await store.undo(entry.id).outcome else {
            throw World.Failure("nothing is left to send")
        }
        #expect(try await fixture.row("a")?.columns.text == #"{"x":1,"y":1}"#)
        guard case .refused = try await store.undo(entry.id).outcome else {
            throw World.Failure("only once")
        }
        try await fixture.delete("a")
        let deletion = try await store.lastEntry()
        try await fixture.push { _ in .applied(row: nil, RowOrigin()) }
        guard case .done(let summary?) = try await store.undo(deletion.id).outcome else {
            throw World.Failure("a new operation is due")
        }
        #expect(summary.kind == .undelete)
        #expect(try await fixture.row("a")?.visible?.text == #"{"x":1,"y":1}"#)
        #expect(try await store.ledger().balances)
    }

    @Test func `bulk actions count first and then act on all that match`() async throws {
        for id in ["a", "b", "c"] { try await fixture.insert(id) }
        try await fixture.push { _ in .quarantined(reason: "Bad milk.", maybeApplied: false) }
        let filter = OperationFilter(states: [.quarantined], text: "MILK")
        let dry = try await store.bulk(.discard, filter, dryRun: true)
        #expect(dry == BulkResult(matched: 1, dryRun: true))
        #expect(try await store.ledger().discarded == 0)
        #expect(try await store.bulk(.discard, filter, dryRun: false).changed == 1)
        #expect(try await fixture.row("a")?.deleted == true)
        #expect(try await store.bulk(.retry, OperationFilter(), dryRun: false).matched == 2)
    }

    @Test func `one choice decides all conflicts that match, where it can be applied`() async throws
    {
        let first = try await fixture.conflict()
        try await fixture.insert("other")
        var outcome = try await store.bulk(
            .resolve(.mine), OperationFilter(table: "nothing"), dryRun: false)
        #expect(outcome == BulkResult(matched: 0))
        outcome = try await store.bulk(.resolve(.server), OperationFilter(), dryRun: true)
        #expect(outcome == BulkResult(matched: 1, dryRun: true))
        #expect(try await store.lists.conflict(first.id) != nil)
        outcome = try await store.bulk(.resolve(.server), OperationFilter(), dryRun: false)
        #expect(outcome == BulkResult(matched: 1, changed: 1))
        #expect(try await store.lists.conflict(first.id) == nil)
        let history = try await store.lists.history(after: nil, limit: 9).items
        #expect(history.contains { $0.kind == .resolved && $0.operationID == first.id })
    }

    @Test func `policies of a table are kept and readers see them`() async throws {
        let status = try await store.updateTable(fixture.todo) { $0.conflictPolicy = .merge }
        #expect(status.conflictPolicy == .merge && status.items == 0)
        #expect(try await fixture.reopened().tables().first?.conflictPolicy == .merge)
    }
}
