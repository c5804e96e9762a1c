import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// An update that was merged into a delete was acknowledged. When the delete is given up, it is an update again.
@Suite struct UnfoldedUpdateTests {
    private static let server = #"{"a":"a0","b":"b0","c":"c0"}"#

    /// An item with changes that were merged into its delete, which the backend has refused.
    private func refused(
        _ changes: (StoreFixture) async throws -> Void
    ) async throws -> (StoreFixture, TableOperation) {
        let fixture = try StoreFixture()
        try await fixture.pull(fixture.remote("x", Self.server, version: "v1"))
        try await changes(fixture)
        try await fixture.delete("x")
        let sent = try #require(try await fixture.send())
        #expect(sent.kind == .delete)
        try await fixture.settle(sent.seq, .quarantined(reason: "No.", maybeApplied: false))
        return (fixture, try #require(try await fixture.chain("x").first))
    }

    private func refusedPatch() async throws -> (StoreFixture, TableOperation) {
        try await refused { try await $0.update("x", #"{"a":"a1"}"#) }
    }

    private func discard(_ fixture: StoreFixture, _ operation: TableOperation) async throws {
        fixture.clock.advance(milliseconds: 1)
        #expect(try await fixture.store.discard(operation.id).isDone)
        #expect(try await fixture.store.ledger().balances)
    }

    enum Changes: CaseIterable, Sendable {
        case patches, put, patchAndPut, none

        func make(_ fixture: StoreFixture) async throws {
            let id = try ItemID("x")
            switch self {
            case .patches:
                try await fixture.update("x", #"{"a":"a1","b":"b1"}"#)
                try await fixture.update("x", #"{"a":"a2"}"#)
            case .put: _ = await fixture.write(.replace(id, Columns(stored: #"{"a":"a2"}"#)))
            case .patchAndPut:
                try await fixture.update("x", #"{"b":"b1"}"#)
                _ = await fixture.write(
                    .replace(id, Columns(stored: #"{"a":"a2","b":"b1"}"#)))
            case .none: break
            }
        }

        var sent: String {
            switch self {
            case .patches: #"{"a":"a2","b":"b1"}"#
            case .put: #"{"a":"a2","b":null,"c":null}"#
            case .patchAndPut: #"{"a":"a2","b":"b1","c":null}"#
            case .none: "{}"
            }
        }
    }

    @Test(arguments: Changes.allCases)
    func `what was merged into a discarded delete is sent`(_ changes: Changes) async throws {
        let (fixture, delete) = try await refused { try await changes.make($0) }
        try await discard(fixture, delete)
        let chain = try await fixture.chain("x")
        let row = try #require(try await fixture.row("x"))
        var expected = Columns(stored: Self.server)
        expected.merge(Columns(stored: changes.sent))
        #expect(row.visible.map { $0.holds(expected) && expected.holds($0) } == true)
        guard changes != .none else {
            #expect(chain.isEmpty && row.shadow == nil)
            return
        }
        #expect(chain.map(\.kind) == [.update] && chain.map(\.state) == [.queued])
        #expect(chain.first?.changes.holds(Columns(stored: changes.sent)) == true)
        #expect(chain.first?.baseVersion == "v1" && row.shadow?.text == Self.server)
        let ledger = try await fixture.store.ledger()
        #expect(ledger.discarded == 1 && ledger.queue.open == 1 && ledger.balances)
    }

    @Test func `another writer's change of another column stays beside it`() async throws {
        let (fixture, delete) = try await refusedPatch()
        try await fixture.pull(
            fixture.remote("x", #"{"a":"a0","b":"theirs","c":"c0"}"#, version: "v22"))
        try await discard(fixture, delete)
        let chain = try await fixture.chain("x")
        #expect(chain.map(\.changes.text) == [#"{"a":"a1"}"#])
        #expect(chain.map(\.baseVersion) == ["v22"])
        #expect(
            try await fixture.row("x")?.visible?.text == #"{"a":"a1","b":"theirs","c":"c0"}"#)
    }

    @Test func `another writer's change of the same column is a conflict with three sides`()
        async throws
    {
        let (fixture, delete) = try await refusedPatch()
        try await fixture.pull(
            fixture.remote("x", #"{"a":"theirs","b":"b0","c":"c0"}"#, version: "v22"))
        try await discard(fixture, delete)
        let conflict = try await fixture.store.firstConflict()
        #expect(conflict.base?.text == Self.server)
        #expect(conflict.mine?.text == #"{"a":"a1","b":"b0","c":"c0"}"#)
        #expect(conflict.fields.map(\.name) == ["a"])
        #expect(try await fixture.row("x")?.shadow?.text == #"{"a":"theirs","b":"b0","c":"c0"}"#)
    }

    @Test(arguments: [#"{"a":"theirs","b":"b0"}"#, #"{"a":"a0","b":"theirs"}"#])
    func
        `a policy that takes the backend's row gives up the delete, and of the update what overlaps`(
            _ theirs: String
        ) async throws
    {
        let fixture = try StoreFixture()
        try await fixture.pull(fixture.remote("x", #"{"a":"a0","b":"b0"}"#, version: "v1"))
        _ = try await fixture.store.updateTable(fixture.todo) { $0.conflictPolicy = .server }
        try await fixture.update("x", #"{"a":"a1"}"#)
        try await fixture.delete("x")
        let row = try fixture.remote("x", theirs, version: "v22")
        try await fixture.push { _ in .discarded(server: row, reason: "Theirs.") }
        let chain = try await fixture.chain("x")
        let visible = try await fixture.row("x")?.visible?.text
        if theirs.contains(#""a":"theirs""#) {
            #expect(chain.isEmpty && visible == theirs)
        } else {
            #expect(chain.map(\.changes.text) == [#"{"a":"a1"}"#])
            #expect(visible == #"{"a":"a1","b":"theirs"}"#)
        }
        #expect(try await fixture.store.ledger().balances)
    }

    @Test func `a policy gives up a delete behind the operation that it follows`() async throws {
        let fixture = try StoreFixture()
        _ = try await fixture.store.updateTable(fixture.todo) { $0.conflictPolicy = .server }
        try await fixture.insert("x", #"{"a":"a0","b":"b0"}"#)
        let insert = try #require(try await fixture.send())
        try await fixture.update("x", #"{"a":"a1"}"#)
        try await fixture.delete("x")
        let theirs = try fixture.remote("x", #"{"a":"a0","b":"theirs"}"#, version: "v1")
        try await fixture.settle(insert.seq, .applied(row: theirs, RowOrigin()))
        let chain = try await fixture.chain("x")
        #expect(chain.map(\.kind) == [.update])
        #expect(chain.map(\.changes.text) == [#"{"a":"a1"}"#])
        #expect(
            try await fixture.row("x")?.visible?.text == #"{"a":"a1","b":"theirs"}"#)
        #expect(try await fixture.store.ledger().balances)
    }

    @Test(arguments: [true, false])
    func `an insert keeps the update that came between it and the discarded delete`(
        _ isApplied: Bool
    ) async throws {
        let fixture = try StoreFixture()
        try await fixture.insert("x", #"{"a":"a0","b":"b0"}"#)
        let insert = try #require(try await fixture.send())
        try await fixture.update("x", #"{"a":"a1"}"#)
        try await fixture.delete("x")
        let row = try fixture.remote("x", #"{"a":"a0","b":"b0"}"#, version: "v1")
        let applied = PushOutcome.applied(row: row, RowOrigin(isOwnAnswer: true))
        if isApplied {
            try await fixture.settle(insert.seq, applied)
            try await fixture.push { _ in .quarantined(reason: "No.", maybeApplied: false) }
        }
        let delete = try #require(try await fixture.chain("x").last)
        #expect(delete.kind == .delete)
        try await discard(fixture, delete)
        #expect(try await fixture.row("x")?.visible?.text == #"{"a":"a1","b":"b0"}"#)
        if !isApplied { try await fixture.settle(insert.seq, applied) }
        let chain = try await fixture.chain("x")
        #expect(chain.map(\.kind) == [.update] && chain.map(\.state) == [.queued])
        #expect(chain.map(\.changes.text) == [#"{"a":"a1"}"#])
        #expect(chain.map(\.baseVersion) == ["v1"])
        #expect(try await fixture.row("x")?.visible?.text == #"{"a":"a1","b":"b0"}"#)
        #expect(try await fixture.store.ledger().balances)
    }

    @Test func `an undo of the discard merges the update into the delete again`() async throws {
        let (fixture, delete) = try await refusedPatch()
        try await discard(fixture, delete)
        let entry = try await fixture.store.lastEntry()
        fixture.clock.advance(milliseconds: 1)
        #expect(try await fixture.store.undo(entry.id).effect == .restored)
        let chain = try await fixture.chain("x")
        #expect(chain.map(\.kind) == [.delete] && chain.map(\.state) == [.quarantined])
        #expect(chain.map(\.changes.text) == [#"{"a":"a1"}"#])
        let row = try #require(try await fixture.row("x"))
        #expect(row.deleted && row.shadow?.text == Self.server)
        #expect(try await fixture.store.ledger().balances)
        // Given up again, it is an update again.
        try await discard(fixture, try #require(chain.first))
        #expect(try await fixture.chain("x").map(\.changes.text) == [#"{"a":"a1"}"#])
    }

    @Test func `an undo of the discard is refused once the update is changed or on its way`()
        async throws
    {
        for isSent in [true, false] {
            let (fixture, delete) = try await refusedPatch()
            try await discard(fixture, delete)
            let entry = try await fixture.store.lastEntry()
            if isSent {
                _ = try await fixture.send()
            } else {
                try await fixture.update("x", #"{"a":"a2"}"#)
            }
            let before = try await fixture.chain("x")
            guard case .refused = try await fixture.store.undo(entry.id).outcome else {
                Issue.record("undone")
                continue
            }
            #expect(try await fixture.chain("x") == before)
            #expect(try await fixture.store.ledger().balances)
        }
    }

    @Test(arguments: [true, false, nil])
    func `both sides have the update after the refused delete was discarded`(_ isSoft: Bool?)
        async throws
    {
        let world = try World(.mobileApps, TableOptions(softDelete: isSoft ?? true))
        let todo = world.todo
        for id in ["x", "y"] { try await world.seed(id, #"{"text":"old","n":1}"#) }
        _ = await world.engine.pull(todo)
        if isSoft != nil { try await world.delete("y") }
        #expect(await world.engine.sync().state == .complete)
        try await world.update("x", #"{"text":"new"}"#)
        try await world.delete("x")
        world.transport.decide { request, _ in
            request.head.method == .delete
                ? .instead(
                    Response(status: .badRequest, body: Array(#"{"error":"no"}"#.utf8))) : nil
        }
        _ = await world.engine.push()
        let delete = try #require(try await world.open().first)
        #expect(delete.kind == .delete && delete.state == .quarantined)
        #expect(try await world.store.discard(delete.id).isDone)
        // The answer to the update, where it was sent before the delete, may have another order of columns.
        let whole = [#""new""#, "1"]
        let here = try await world.local("x")?.columns
        #expect(here?.names.sorted() == ["n", "text"])
        #expect(["text", "n"].map { here?[$0]?.text } == whole)
        #expect(await world.engine.sync().state == .complete)
        #expect(try await world.open().isEmpty)
        #expect(try await world.remote("x")?.columns.text == #"{"text":"new","n":1}"#)
        let left = try await world.local("x")?.columns
        #expect(left?.names.sorted() == ["n", "text"])
        #expect(["text", "n"].map { left?[$0]?.text } == whole)
        #expect(try await world.store.ledger().balances)
    }
}
