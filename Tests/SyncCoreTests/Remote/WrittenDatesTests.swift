import TablesProtocol
import Testing

@testable import SyncCore

/// Dates that a client writes over another text of the same instant.
@Suite struct WrittenDatesTests {
    private static let there = #"{"due":"2025-12-31T22:00:00.000Z"}"#

    /// What the client writes, and what the backend has after the push.
    @Test(arguments: [
        (
            #"{"due":"2026-01-01T00:00:00.000+02:00"}"#,
            #"{"due":"2026-01-01T00:00:00.000+02:00"}"#
        ),
        (
            #"{"due":"2025-12-31T22:00:00.00000001Z"}"#,
            #"{"due":"2025-12-31T22:00:00.00000001Z"}"#
        ),
        // Another number of zeros is no change.
        (#"{"due":"2025-12-31T22:00:00Z"}"#, there),
        (#"{"due":"2025-12-31T22:00:00.0000000Z"}"#, there),
    ])
    func `another offset or other digits reach the backend, other zeros are no change`(
        written: String, after: String
    ) async throws {
        for replaces in [false, true] {
            let world = try World()
            try await world.seed("a", Self.there)
            #expect(await world.engine.pull(world.todo).state == .complete)
            let (id, columns) = (try ItemID("a"), Columns(stored: written))
            let outcome = await world.write(
                replaces ? .replace(id, columns) : .update(id, columns))
            guard case .updated = outcome else { throw World.Failure("\(outcome)") }
            #expect(try await world.open().count == (after == Self.there ? 0 : 1))
            _ = await world.engine.push()
            #expect(try await world.open().isEmpty)
            #expect(try await world.remote("a")?.columns == Columns(stored: after))
            #expect(try await world.local("a")?.columns == Columns(stored: after))
        }
    }

    private static let due = #"{"due":"2026-01-01T00:00:00.000+02:00"}"#

    /// The values of a row by their names.
    private func values(_ columns: Columns?) -> [String: String] {
        Dictionary(
            (columns?.all ?? []).map { ($0.name, $0.value.text) }, uniquingKeysWith: { $1 })
    }

    private func row(_ text: String, _ due: String) -> Columns {
        Columns(stored: #"{"text":"\#(text)","due":"\#(due)"}"#)
    }

    @Test func `another offset is sent over a row of which another writer changed another column`()
        async throws
    {
        let world = try World()
        try await world.seed("a", row("one", "2025-12-31T22:00:00.000Z").text)
        #expect(await world.engine.pull(world.todo).state == .complete)
        try await world.update("a", Self.due)
        #expect(try await world.elsewhere("PATCH", "a", #"{"text":"theirs"}"#) == 200)
        _ = await world.engine.push()
        #expect(try await world.open().isEmpty)
        let merged = row("theirs", "2026-01-01T00:00:00.000+02:00")
        #expect(values(try await world.remote("a")?.columns) == values(merged))
        #expect(values(try await world.local("a")?.columns) == values(merged))
    }

    @Test func `another offset behind an operation without a verdict is sent`() async throws {
        let fixture = try StoreFixture()
        let there = row("one", "2025-12-31T22:00:00.000Z").text
        try await fixture.pull(fixture.remote("a", there, version: "v1"))
        try await fixture.update("a", #"{"text":"mine"}"#)
        let sent = try #require(try await fixture.send())
        try await fixture.settle(sent.seq, .unknown(reason: "Lost.", until: nil))
        try await fixture.update("a", Self.due)
        let answer = try fixture.remote(
            "a", row("mine", "2025-12-31T22:00:00.000Z").text, version: "v22")
        try await fixture.settle(sent.seq, .applied(row: answer, RowOrigin(isOwnAnswer: true)))
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.kind) == [.update] && chain.map(\.baseVersion) == ["v22"])
        #expect(chain.first?.payload?.text == Self.due)
        let wanted = row("mine", "2026-01-01T00:00:00.000+02:00")
        #expect(values(try await fixture.row("a")?.visible) == values(wanted))
    }

    @Test func `a discarded change to another offset comes back`() async throws {
        let fixture = try StoreFixture()
        try await fixture.pull(fixture.remote("a", Self.there, version: "v1"))
        try await fixture.update("a", Self.due)
        _ = try await fixture.store.discard(try #require(try await fixture.chain("a").first?.id))
        let entries = try await fixture.store.lists.history(after: nil, limit: 9).items
        let discarded = try #require(entries.first { $0.kind == .discarded && $0.undoable })
        _ = try await fixture.store.undo(discarded.id).outcome
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.state) == [.queued] && chain.first?.payload?.text == Self.due)
        #expect(try await fixture.row("a")?.visible == Columns(stored: Self.due))
    }

    @Test(arguments: [false, true])
    func `undo sets another offset back, before it is sent and after`(isSent: Bool) async throws {
        let fixture = try StoreFixture()
        try await fixture.pull(fixture.remote("a", Self.there, version: "v1"))
        try await fixture.update("a", Self.due)
        if isSent {
            let row = try fixture.remote("a", Self.due, version: "v22")
            try await fixture.push { _ in .applied(row: row, RowOrigin(isOwnAnswer: true)) }
        }
        let entries = try await fixture.store.lists.history(after: nil, limit: 9).items
        _ = try await fixture.store.undo(try #require(entries.first { $0.kind == .write }).id)
            .outcome
        #expect(try await fixture.row("a")?.visible == Columns(stored: Self.there))
        #expect(try await fixture.chain("a").map(\.payload?.text) == (isSent ? [Self.there] : []))
    }

    @Test func `a decision that brings a row back with another offset is undone`() async throws {
        let world = try World()
        try await world.insert("a", Self.there)
        _ = await world.engine.push()
        try await world.elsewhere("DELETE", "a")
        try await world.update("a", Self.due)
        _ = await world.engine.push()
        let found = try await world.store.firstConflict()
        _ = try await world.store.resolve(found.id, revision: found.revision, .mine)
        #expect(try await world.open().map(\.kind) == [.undelete, .update])
        let entries = try await world.store.lists.history(after: nil, limit: 9).items
        _ = try await world.store.undo(try #require(entries.first { $0.kind == .resolved }).id)
            .outcome
        #expect(try await world.open().map(\.state) == [.conflict])
    }
}
