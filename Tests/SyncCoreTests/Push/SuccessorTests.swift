import TablesProtocol
import Testing

@testable import SyncCore

/// An operation that follows another is checked for conflicts once the first has settled.
@Suite struct SuccessorTests {
    static let base = #"{"title":"milk","note":"n","done":false}"#

    /// Reads back an update with a lost response, after another writer changed the row.
    private func readBack(
        _ follow: (StoreFixture) async throws -> Void,
        theirs: String = #"{"title":"theirs","note":"theirs","done":true}"#,
        policy: ConflictPolicy = .ask, origin: RowOrigin = RowOrigin()
    ) async throws -> StoreFixture {
        let fixture = try StoreFixture()
        try await fixture.pull(fixture.remote("a", Self.base, version: "v1"))
        _ = try await fixture.store.updateTable(fixture.todo) { $0.conflictPolicy = policy }
        try await fixture.update("a", #"{"done":true}"#)
        let sent = try #require(try await fixture.send())
        try await fixture.settle(sent.seq, .unknown(reason: "Lost.", until: nil))
        try await follow(fixture)
        let row = try fixture.remote("a", theirs, version: "v22")
        try await fixture.settle(sent.seq, .applied(row: row, origin))
        #expect(try await fixture.store.ledger().balances)
        return fixture
    }

    private func expectConflict(
        _ fixture: StoreFixture, _ kind: OperationKind, mine: String?,
        theirs: String = #"{"title":"theirs","note":"theirs","done":true}"#
    ) async throws {
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.state) == [.conflict] && chain.map(\.kind) == [kind])
        let conflict = try #require(try await fixture.store.lists.conflict(chain[0].id))
        #expect(conflict.base?.text == #"{"title":"milk","note":"n","done":true}"#)
        #expect(conflict.mine?.text == mine && conflict.server?.text == theirs)
        let row = try #require(try await fixture.row("a"))
        #expect(row.serverVersion == "v22" && row.visible?.text == mine)
    }

    @Test func `a change of a column that another writer changed is a conflict`() async throws {
        let fixture = try await readBack { try await $0.update("a", #"{"title":"mine"}"#) }
        try await expectConflict(
            fixture, .update, mine: #"{"title":"mine","note":"n","done":true}"#)
    }

    @Test func `a replacement of a row that another writer changed is a conflict`() async throws {
        let fixture = try await readBack { fixture in
            let whole = try Columns(parsing: #"{"title":"mine","note":"n","done":true}"#)
            #expect(await fixture.write(.replace(try ItemID("a"), whole)).isSuccess)
        }
        try await expectConflict(
            fixture, .replace, mine: #"{"title":"mine","note":"n","done":true}"#)
    }

    @Test func `a deletion of a row that another writer changed is a conflict`() async throws {
        let fixture = try await readBack { try await $0.delete("a") }
        try await expectConflict(fixture, .delete, mine: nil)
    }

    @Test(arguments: [nil, "corp:ana", "corp:bob"])
    func `another id of the same owner is no other writer's change`(_ owner: String?) async throws {
        let fixture = try await readBack(
            { fixture in
                try await fixture.store.write { transaction in
                    if let owner { try transaction.binding.setOwner(owner) }
                }
                try await fixture.delete("a")
            },
            theirs: #"{"title":"milk","note":"n","done":true,"userId":"corp:ana"}"#)
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.kind) == [.delete])
        #expect(chain.map(\.state) == [owner == "corp:ana" ? .queued : .conflict])
    }

    @Test func `the unsent part of a successor is based on the backend's row`() async throws {
        let fixture = try await readBack(
            { try await $0.update("a", #"{"title":"mine"}"#) },
            theirs: #"{"title":"milk","note":"theirs","done":true}"#)
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.state) == [.queued] && chain[0].baseVersion == "v22")
        #expect(chain[0].payload?.text == #"{"title":"mine"}"#)
        #expect(
            try await fixture.row("a")?.columns.text
                == #"{"title":"mine","note":"theirs","done":true}"#)
    }

    @Test func `a row that another writer deleted is a conflict with what follows`() async throws {
        let fixture = try StoreFixture()
        try await fixture.pull(fixture.remote("a", Self.base, version: "v1"))
        try await fixture.update("a", #"{"done":true}"#)
        let sent = try #require(try await fixture.send())
        try await fixture.update("a", #"{"title":"mine"}"#)
        let gone = try fixture.remote("a", Self.base, version: "v22", deleted: true)
        try await fixture.settle(sent.seq, .conflict(server: gone, reason: "Deleted."))
        // Both changes are one conflict, since the first never took effect.
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.state) == [.conflict])
        #expect(
            chain[0].payload?.text == #"{"done":true,"title":"mine"}"#
                || chain[0].payload?.text == #"{"title":"mine","done":true}"#)
        #expect(try await fixture.store.ledger().balances)
    }

    @Test(arguments: [ConflictPolicy.client, .merge, .server])
    func `the table's policy decides about a successor`(_ policy: ConflictPolicy) async throws {
        let fixture = try await readBack(
            { try await $0.update("a", #"{"title":"mine"}"#) }, policy: policy)
        let chain = try await fixture.chain("a")
        let row = try #require(try await fixture.row("a"))
        switch policy {
        case .server:
            #expect(chain.isEmpty && row.columns.text.contains(#""title":"theirs""#))
            #expect(try await fixture.store.ledger().discarded == 1)
        case .client, .merge, .ask:
            // What only the other writer changed stays.
            #expect(row.columns.text == #"{"title":"mine","note":"theirs","done":true}"#)
            #expect(chain.map(\.state) == [.queued] && chain[0].baseVersion == "v22")
            #expect(chain[0].payload?.text == #"{"title":"mine"}"#)
            // The replaced value of the other writer stays in history.
            let merged = try await fixture.store.lists.history(after: nil, limit: 9).items
                .filter { $0.kind == .merged }
            #expect(
                merged.map { $0.before?.text }
                    == [#"{"title":"theirs","note":"theirs","done":true}"#])
            #expect(merged.map { $0.after?.text } == [row.columns.text])
            #expect(merged.map(\.operationID) == [chain[0].id])
        }
    }

    @Test func `columns that the backend adds to a new row are not another writer's`()
        async throws
    {
        let fixture = try StoreFixture()
        try await fixture.insert("a", #"{"title":"milk"}"#)
        let sent = try #require(try await fixture.send())
        try await fixture.update("a", #"{"done":true}"#)
        let answer = try fixture.remote("a", #"{"title":"milk","done":false}"#, version: "v1")
        try await fixture.settle(
            sent.seq, .applied(row: answer, RowOrigin(isOwnAnswer: true)))
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.state) == [.queued])
        #expect(try await fixture.row("a")?.columns.text == #"{"title":"milk","done":true}"#)
    }

    @Test func `a deletion follows an answer to our own request, whatever the backend made of it`()
        async throws
    {
        let fixture = try await readBack(
            { try await $0.delete("a") },
            theirs: #"{"title":"milk","note":"n","done":true,"changes":7}"#,
            origin: RowOrigin(isOwnAnswer: true))
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.state) == [.queued] && chain.map(\.kind) == [.delete])
        #expect(chain[0].baseVersion == "v22")
    }

    @Test func `a deletion does not follow a merge that its client never saw`() async throws {
        let fixture = try StoreFixture()
        try await fixture.pull(fixture.remote("a", Self.base, version: "v1"))
        try await fixture.update("a", #"{"done":true}"#)
        let sent = try #require(try await fixture.send())
        try await fixture.delete("a")
        let theirs = try fixture.remote(
            "a", #"{"title":"theirs","note":"n","done":false}"#, version: "v22")
        try await fixture.settle(sent.seq, .rebased(onto: theirs, reason: "Merged."))
        #expect(try await fixture.chain("a").map(\.kind) == [.update, .delete])
        let again = try #require(try await fixture.send())
        let answer = try fixture.remote(
            "a", #"{"title":"theirs","note":"n","done":true}"#, version: "v333")
        try await fixture.settle(
            again.seq, .applied(row: answer, RowOrigin(isOwnAnswer: true)))
        #expect(try await fixture.chain("a").map(\.state) == [.conflict])
        #expect(try await fixture.store.ledger().balances)
    }

    @Test func `a change behind a merge keeps its base in the columns in question`() async throws {
        let fixture = try StoreFixture()
        try await fixture.pull(fixture.remote("a", Self.base, version: "v1"))
        try await fixture.update("a", #"{"done":true}"#)
        let sent = try #require(try await fixture.send())
        try await fixture.update("a", #"{"title":"mine"}"#)
        let theirs = try fixture.remote(
            "a", #"{"title":"theirs","note":"theirs","done":false}"#, version: "v22")
        try await fixture.settle(sent.seq, .rebased(onto: theirs, reason: "Merged."))
        var chain = try await fixture.chain("a")
        #expect(chain.map(\.state) == [.queued, .queued])
        #expect(chain[1].baseRow?.text == #"{"title":"milk","note":"theirs","done":true}"#)
        #expect(chain[1].payload?.text == #"{"title":"mine"}"#)
        let again = try #require(try await fixture.send())
        let answer = try fixture.remote(
            "a", #"{"title":"theirs","note":"theirs","done":true}"#, version: "v333")
        try await fixture.settle(
            again.seq, .applied(row: answer, RowOrigin(isOwnAnswer: true)))
        chain = try await fixture.chain("a")
        #expect(chain.map(\.state) == [.conflict])
        let conflict = try #require(try await fixture.store.lists.conflict(chain[0].id))
        #expect(conflict.fields.map(\.name) == ["title"] && conflict.fields[0].overlaps)
        #expect(conflict.mine?.text == #"{"title":"mine","note":"theirs","done":true}"#)
    }

    @Test func `with history preserved a deletion follows what is folded before it`() async throws {
        let fixture = try StoreFixture()
        try await fixture.pull(fixture.remote("a", #"{"x":1}"#, version: "v1"))
        _ = try await fixture.store.updateTable(fixture.todo) { $0.preservesHistory = true }
        try await fixture.update("a", #"{"x":2}"#)
        let sent = try #require(try await fixture.send())
        try await fixture.update("a", #"{"x":3}"#)
        try await fixture.delete("a")
        try await fixture.settle(
            sent.seq, .waiting(reason: "Busy.", until: .earliest))
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.kind) == [.update, .delete])
        #expect(chain[0].payload?.text == #"{"x":3}"# && chain[1].successorOf == chain[0].seq)
        #expect(try await fixture.store.ledger().balances)
    }

    @Test func `an item that was deleted before it was sent is inserted when it is restored`()
        async throws
    {
        let fixture = try StoreFixture()
        for _ in 0..<2 {
            if try await fixture.row("a") == nil { try await fixture.insert("a") }
            try await fixture.delete("a")
            #expect(try await fixture.chain("a").isEmpty)
            #expect(await fixture.write(.undelete(try ItemID("a"))).name == "undeleted")
            let chain = try await fixture.chain("a")
            #expect(chain.map(\.kind) == [.insert])
            #expect(chain[0].payload?.text == #"{"text":"milk"}"#)
        }
        // Refused and discarded it is nowhere.
        try await fixture.push { _ in .quarantined(reason: "No.", maybeApplied: false) }
        let refused = try #require(try await fixture.chain("a").first)
        _ = try await fixture.store.discard(refused.id)
        #expect(try await fixture.row("a")?.deleted == true)
        #expect(try await fixture.store.ledger().balances)
    }
}
