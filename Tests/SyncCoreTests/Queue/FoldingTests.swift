import TablesProtocol
import Testing

@testable import SyncCore

/// What an operation leaves is computed from its own start and its own changes. The base of its successor may keep
/// values that another writer has changed since.
@Suite struct FoldingTests {
    /// An update is merged with another writer's change of `b`, and sent again. `follow` is written behind it first.
    private func merged(
        _ follow: (StoreFixture) async throws -> Void
    ) async throws -> (StoreFixture, TableOperation) {
        let fixture = try StoreFixture()
        // The table deletes softly, so an update is sent before the delete that follows it.
        let deleted = try fixture.remote("y", "{}", version: "v0", deleted: true)
        try await fixture.pull(
            deleted, fixture.remote("x", #"{"a":"a0","b":"b0","c":"c0"}"#, version: "v1"))
        try await fixture.update("x", #"{"a":"a1"}"#)
        let sent = try #require(try await fixture.send())
        try await follow(fixture)
        let theirs = try fixture.remote(
            "x", #"{"a":"a0","b":"theirs","c":"c0"}"#, version: "v22")
        try await fixture.settle(sent.seq, .rebased(onto: theirs, reason: "Merged."))
        return (fixture, try #require(try await fixture.send()))
    }

    @Test func `a refused update takes over what follows it, and nothing of another writer's`()
        async throws
    {
        let (fixture, sent) = try await merged { fixture in
            try await fixture.update("x", #"{"a":"a2","c":"c2"}"#)
            try await fixture.delete("x")
        }
        try await fixture.settle(sent.seq, .quarantined(reason: "No.", maybeApplied: false))
        var chain = try await fixture.chain("x")
        #expect(chain.map(\.kind) == [.update, .delete])
        #expect(chain.map(\.payload?.text) == [#"{"a":"a2","c":"c2"}"#, nil])
        #expect(
            chain.map(\.baseRow?.text) == [
                #"{"a":"a0","b":"theirs","c":"c0"}"#, #"{"a":"a2","b":"b0","c":"c2"}"#,
            ])
        let again = try #require(try await fixture.send())
        let answer = try fixture.remote(
            "x", #"{"a":"a2","b":"theirs","c":"c2"}"#, version: "v333")
        try await fixture.settle(again.seq, .applied(row: answer, RowOrigin(isOwnAnswer: true)))
        chain = try await fixture.chain("x")
        #expect(chain.map(\.kind) == [.delete] && chain.map(\.state) == [.conflict])
        let row = try #require(try await fixture.row("x"))
        #expect(row.shadow?.text == #"{"a":"a2","b":"theirs","c":"c2"}"# && row.deleted)
        #expect(try await fixture.store.ledger().balances)
    }

    @Test func `a delete that is given up sends nothing of another writer's`() async throws {
        let (fixture, _) = try await merged { try await $0.delete("x") }
        _ = await fixture.write(.undelete(try ItemID("x")))
        let chain = try await fixture.chain("x")
        #expect(chain.map(\.kind) == [.update] && chain.map(\.payload?.text) == [#"{"a":"a1"}"#])
        let row = try #require(try await fixture.row("x"))
        #expect(row.visible?.text == #"{"a":"a1","b":"theirs","c":"c0"}"#)
    }

    @Test func `a discarded delete comes back behind the update that it followed`() async throws {
        let (fixture, _) = try await merged { try await $0.delete("x") }
        let delete = try #require(try await fixture.chain("x").last)
        _ = try await fixture.store.discard(delete.id)
        #expect(
            try await fixture.row("x")?.visible?.text == #"{"a":"a1","b":"theirs","c":"c0"}"#)
        let entry = try await fixture.store.lastEntry()
        #expect(try await fixture.store.undo(entry.id).effect == .restored)
        let chain = try await fixture.chain("x")
        #expect(chain.map(\.kind) == [.update, .delete])
        #expect(chain.last?.baseRow?.text == #"{"a":"a1","b":"b0","c":"c0"}"#)
        #expect(try await fixture.row("x")?.deleted == true)
    }

    @Test(arguments: [Resolution.mine, .edited(Columns(stored: #"{"a":"edited"}"#)), .both])
    func `a decision about an operation contains nothing of what follows it`(
        _ resolution: Resolution
    ) async throws {
        let (fixture, sent) = try await merged { try await $0.update("x", #"{"b":"b1"}"#) }
        let theirs = #"{"a":"theirs","b":"theirs","c":"c0"}"#
        try await fixture.settle(
            sent.seq,
            .conflict(server: fixture.remote("x", theirs, version: "v333"), reason: "Both."))
        let conflict = try await fixture.store.firstConflict()
        #expect(conflict.mine?.text == #"{"a":"a1","b":"theirs","c":"c0"}"#)
        #expect(conflict.fields.map(\.name) == ["a"])
        _ = try await fixture.store.resolve(
            conflict.id, revision: conflict.revision, resolution)
        let chain = try await fixture.chain("x")
        switch resolution {
        case .both:
            #expect(chain.map(\.state) == [.conflict])
        case .mine, .edited, .server, .merged, .newest:
            let a = resolution == .mine ? "a1" : "edited"
            #expect(chain.map(\.payload?.text) == [#"{"a":"\#(a)"}"#, #"{"b":"b1"}"#])
        }
        // The change of `b` is judged when its turn comes.
        #expect(chain.last?.changes.text == #"{"b":"b1"}"#)
        #expect(chain.last?.baseRow?["b"]?.string == "b0")
    }

    @Test(arguments: [
        PushOutcome?.none, .applied(row: nil, RowOrigin()),
        .waiting(reason: "Later.", until: nil),
    ])
    func `an insert that is cancelled behind a delete comes back with an undelete`(
        _ outcome: PushOutcome?
    ) async throws {
        let fixture = try StoreFixture()
        try await fixture.pull(fixture.remote("x", #"{"a":"a0","b":"b0"}"#, version: "v1"))
        try await fixture.delete("x")
        let sent = try #require(try await fixture.send())
        try await fixture.insert("x", #"{"a":"new"}"#)
        try await fixture.delete("x")
        #expect(try await fixture.chain("x").map(\.kind) == [.delete])
        if let outcome { try await fixture.settle(sent.seq, outcome) }
        _ = await fixture.write(.undelete(try ItemID("x")))
        let chain = try await fixture.chain("x")
        if outcome?.cause == .own {
            #expect(chain.map(\.kind) == [.update])
        } else {
            #expect(chain.suffix(2).map(\.kind) == [.undelete, .update])
        }
        #expect(chain.last?.changes.text == #"{"a":"new","b":null}"#)
        #expect(
            try await fixture.row("x")?.visible?.holds(Columns(stored: #"{"a":"new"}"#)) == true)
        #expect(try await fixture.store.ledger().balances)
    }

    @Test func `an insert beside a deleted row that is cancelled is inserted by an undelete`()
        async throws
    {
        let fixture = try StoreFixture()
        try await fixture.insert("x", #"{"a":"new"}"#)
        let sent = try #require(try await fixture.send())
        try await fixture.pull(
            fixture.remote("x", #"{"a":"a0"}"#, version: "v1", deleted: true))
        try await fixture.delete("x")
        try await fixture.settle(
            sent.seq, .waiting(reason: "Later.", until: nil))
        #expect(try await fixture.chain("x").isEmpty)
        _ = await fixture.write(.undelete(try ItemID("x")))
        let chain = try await fixture.chain("x")
        #expect(chain.map(\.kind) == [.insert])
        #expect(chain.first?.payload?.text == #"{"a":"new"}"#)
    }
}
