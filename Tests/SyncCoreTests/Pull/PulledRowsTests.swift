import GRDB
import TablesProtocol
import Testing

@testable import SyncCore

@Suite struct PulledRowsTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    @Test func `a new row is inserted and the same row again changes nothing`() async throws {
        let row = try fixture.remote("a", #"{"n":1}"#, version: "v1")
        #expect(try await fixture.pull(row) == [.inserted])
        let stamp = try await fixture.row("a")?.stamp
        #expect(try await fixture.pull(row) == [.unchanged])
        #expect(try await fixture.row("a")?.stamp == stamp)
    }

    @Test func `a version that a restored backend uses again does not hide new columns`()
        async throws
    {
        try await fixture.pull(fixture.remote("a", #"{"n":1}"#, version: "v1"))
        let before = try #require(try await fixture.row("a"))
        let second = try fixture.remote("a", #"{"n":2}"#, version: "v1")
        #expect(try await fixture.pull(second) == [.updated])
        #expect(try await fixture.pull(second) == [.unchanged])
        let row = try #require(try await fixture.row("a"))
        #expect(row.stamp > before.stamp && row.serverVersion == "v1")
        // A client that holds the first of the two has not seen the second.
        let outcome = await fixture.write(
            .update(row.id, Columns()), ifMatch: .versions([before.version]))
        #expect(outcome.name == "preconditionFailed")
    }

    @Test func `a new version with equal columns is invisible to clients`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"n":1}"#, version: "v1"))
        let before = try #require(try await fixture.row("a"))
        for version in 2...12 {
            try await fixture.pull(
                fixture.remote("a", #"{"n":1.0}"#, version: "v\(version)", updatedAt: "\(version)"))
        }
        let row = try #require(try await fixture.row("a"))
        #expect(row.item.version == before.item.version)
        #expect(row.item.updatedAt == before.item.updatedAt)
        #expect(row.serverVersion == "v12" && row.serverUpdatedAt == "12")
        // A client may hold the store's version, or the backend's present one.
        for version in [before.version, "v12"] {
            let outcome = await fixture.write(
                .update(row.id, Columns()), ifMatch: .versions([version]))
            #expect(outcome.name == "updated")
        }
        let late = await fixture.write(.update(row.id, Columns()), ifMatch: .versions(["v11"]))
        #expect(late.name == "preconditionFailed")
    }

    @Test(arguments: ["v1", "v2"])
    func `the backend's texts of equal values are taken, which no client sees as a change`(
        _ version: String
    ) async throws {
        try await fixture.pull(
            fixture.remote("a", #"{"at":"2024-03-01T08:00:00Z","n":1.10}"#, version: "v1"))
        let before = try #require(try await fixture.row("a"))
        let rewritten = #"{"n":1.1,"more":null,"at":"2024-03-01T08:00:00.000Z"}"#
        try await fixture.pull(fixture.remote("a", rewritten, version: version))
        let row = try #require(try await fixture.row("a"))
        #expect(row.columns.text == #"{"at":"2024-03-01T08:00:00.000Z","n":1.1}"#)
        #expect(row.version == before.version && row.stamp == before.stamp)
        #expect(row.serverVersion == version)
    }

    @Test func `the backend's text of a column that was changed here is not taken`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"n":1.10,"x":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2.0}"#)
        try await fixture.pull(fixture.remote("a", #"{"n":1.1,"x":1}"#, version: "v1"))
        #expect(try await fixture.row("a")?.columns.text == #"{"n":1.10,"x":2.0}"#)
        let answer = try fixture.remote("a", #"{"n":1.1,"x":2}"#, version: "v2")
        try await fixture.push { _ in .applied(row: answer, RowOrigin()) }
        #expect(try await fixture.row("a")?.columns.text == #"{"n":1.1,"x":2}"#)
    }

    @Test func `a changed row gets a stamp and a version`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"n":1}"#, version: "v1"))
        let before = try #require(try await fixture.row("a"))
        #expect(
            try await fixture.pull(fixture.remote("a", #"{"n":2}"#, version: "v22")) == [.updated])
        let row = try #require(try await fixture.row("a"))
        #expect(row.stamp > before.stamp && row.version != before.version)
        let outcome = await fixture.write(
            .update(row.id, Columns()), ifMatch: .versions([before.version]))
        #expect(outcome.name == "preconditionFailed")
    }

    @Test func `a deleted row leaves a tombstone that includeDeleted shows`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"n":1}"#, version: "v1"))
        let gone = try fixture.remote("a", #"{"n":1}"#, version: "v22", deleted: true)
        #expect(try await fixture.pull(gone) == [.deleted])
        guard case .gone = fixture.get(try ItemID("a")),
            case .item(let item, _) = fixture.get(try ItemID("a"), includeDeleted: true)
        else { throw World.Failure("a tombstone is gone, or the item when asked for") }
        #expect(item.deleted)
        #expect(try await fixture.store.tables().first?.items == 0)
        // A backend with soft delete refuses the id, so the proxy refuses it too.
        let insert = await fixture.write(.insert(ItemBody(id: item.id, columns: Columns())))
        #expect(insert.name == "alreadyExists")
    }

    @Test func `local changes are never overwritten, and the backend's row is stored separately`()
        async throws
    {
        try await fixture.pull(fixture.remote("a", #"{"n":1}"#, version: "v1"))
        try await fixture.update("a", #"{"n":5}"#)
        #expect(
            try await fixture.pull(fixture.remote("a", #"{"n":9}"#, version: "v22")) == [.shadowed])
        let row = try #require(try await fixture.row("a"))
        #expect(row.columns.text == #"{"n":5}"# && row.shadow?.text == #"{"n":9}"#)
        #expect(try await fixture.chain("a").first?.baseRow?.text == #"{"n":1}"#)
        // After a discard, the item shows the backend's latest row.
        let id = try #require(try await fixture.chain("a").first?.id)
        _ = try await fixture.store.discard(id)
        #expect(try await fixture.row("a")?.columns.text == #"{"n":9}"#)
    }

    @Test func `a page requested before a push outcome does not undo it`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"n":1}"#, version: "v1"))
        let before = try await fixture.store.read { try $0.counters.changeCount() }
        try await fixture.update("a", #"{"n":2}"#)
        let answer = try fixture.remote("a", #"{"n":2}"#, version: "v22")
        try await fixture.push { _ in .applied(row: answer, RowOrigin()) }
        let old = try fixture.remote("a", #"{"n":1}"#, version: "v1")
        #expect(try await fixture.pull(old, asOf: before) == [.skipped])
        #expect(try await fixture.row("a")?.columns.text == #"{"n":2}"#)
    }

    @Test func `without versions and timestamps the columns decide whether a row is new`()
        async throws
    {
        func row(_ n: Int) throws -> RemoteRow {
            RemoteRow(id: try ItemID("a"), columns: try Columns(parsing: "{\"n\":\(n)}"))
        }
        #expect(
            try await fixture.pull(row(1), row(1), row(2)) == [.inserted, .unchanged, .updated])
    }

    @Test func `removing leaves a tombstone or, for a purge, nothing, and spares local changes`()
        async throws
    {
        try await fixture.pull(
            fixture.remote("a", "{}", version: "v1"), fixture.remote("b", "{}", version: "v1"),
            fixture.remote("c", "{}", version: "v1"))
        try await fixture.update("c", #"{"n":1}"#)
        let todo = fixture.todo
        let removed = try await fixture.store.write { transaction in
            let table = try transaction.tables.make(todo)
            return [
                try transaction.items.remove(try ItemID("a"), from: table, leavingTombstone: true),
                try transaction.items.remove(try ItemID("b"), from: table, leavingTombstone: false),
                try transaction.items.remove(try ItemID("c"), from: table, leavingTombstone: true),
            ]
        }
        #expect(removed == [true, true, false])
        #expect(try await fixture.row("a")?.deleted == true)
        #expect(try await fixture.row("b") == nil)
    }

    @Test func `tokens belong to a table, a query id and a filter`() async throws {
        let todo = fixture.todo
        let again = try await fixture.store.write { transaction in
            let table = try transaction.tables.make(todo)
            var token = try transaction.tokens.token(table, queryID: "q", filterHash: "f")
            token.updatedAt = "2024-01-01T00:00:00.1234567Z"
            token.lastID = "a"
            try transaction.tokens.save(token)
            let other = try transaction.tokens.token(table, queryID: "q", filterHash: "g")
            #expect(other.updatedAt == nil)
            return try transaction.tokens.token(table, queryID: "q", filterHash: "f")
        }
        #expect(again.updatedAt == "2024-01-01T00:00:00.1234567Z" && again.lastID == "a")
        try await fixture.store.write { transaction in
            try transaction.tokens.remove(of: try transaction.tables.make(todo))
            let table = try transaction.tables.make(todo)
            #expect(
                try transaction.tokens.token(table, queryID: "q", filterHash: "f").updatedAt == nil)
        }
    }
}
