import GRDB
import TablesProtocol
import Testing

@testable import SyncCore

@Suite struct LocalWriteTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    @Test func `an insert shows the item and queues its operation at once`() async throws {
        let item = try await fixture.insert("a")
        #expect(!item.deleted)
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.kind) == [.insert])
        #expect(chain[0].payload?.text == #"{"text":"milk"}"#)
        #expect(chain[0].baseRow == nil)
        #expect(chain[0].title == "milk")
        let ledger = try await fixture.store.ledger()
        #expect(ledger.accepted == 1 && ledger.queue.queued == 1 && ledger.balances)
    }

    @Test func `an insert without id gets one`() async throws {
        let outcome = await fixture.write(
            .insert(ItemBody(columns: try Columns(parsing: #"{"a":1}"#))))
        let id = try #require(outcome.item?.id.text)
        #expect(id.count == 36)
        #expect(try await fixture.chain(id)[0].hasGeneratedID)
    }

    @Test func `an insert of an existing id returns the existing item`() async throws {
        try await fixture.insert("a")
        let outcome = await fixture.write(
            .insert(ItemBody(id: try ItemID("a"), columns: Columns())))
        #expect(outcome.name == "alreadyExists")
        let ledger = try await fixture.store.ledger()
        #expect(ledger.accepted == 1)
    }

    @Test func `updates merge into the insert, in column order`() async throws {
        try await fixture.insert("a", #"{"text":"milk","n":1.10}"#)
        let item = try await fixture.update("a", #"{"done":true,"text":"tea"}"#)
        #expect(item.columns.text == #"{"text":"tea","n":1.10,"done":true}"#)
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.kind) == [.insert] && chain[0].revision == 2)
        #expect(chain[0].payload == item.columns)
    }

    @Test func `a delete of an insert that was never sent cancels both and leaves a tombstone`()
        async throws
    {
        try await fixture.insert("a")
        #expect(try await fixture.delete("a").name == "deleted")
        let row = try #require(try await fixture.row("a"))
        #expect(row.deleted && row.pending == nil)
        let ledger = try await fixture.store.ledger()
        #expect(ledger.accepted == 2 && ledger.collapsed == 2 && ledger.balances)
        // The id is free again, because the backend never had it.
        try await fixture.insert("a")
    }

    @Test func `an update keeps base and base version and sends changed columns only`()
        async throws
    {
        try await fixture.pull(fixture.remote("a", #"{"text":"x","n":1}"#, version: "v1"))
        try await fixture.update("a", #"{"text":"y","n":1.0}"#)
        try await fixture.update("a", #"{"gone":null}"#)
        let operation = try #require(try await fixture.chain("a").first)
        #expect(operation.kind == .update && operation.baseVersion == "v1")
        #expect(operation.baseRow?.text == #"{"text":"x","n":1}"#)
        #expect(operation.payload?.text == #"{"text":"y"}"#)
        #expect(operation.changedColumns == ["text"])
    }

    @Test func `an update that changes nothing is not sent`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"n":1}"#, version: "v1"))
        let before = try await fixture.row("a")
        let item = try await fixture.update("a", #"{"n":1.0}"#)
        #expect(item.version == before?.version && item.updatedAt.milliseconds == before?.stamp)
        #expect(try await fixture.chain("a").isEmpty)
        #expect(try await fixture.store.ledger().collapsed == 1)
    }

    @Test func `an update that is changed back is not sent`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"n":1}"#, version: "v1"))
        try await fixture.update("a", #"{"n":2}"#)
        try await fixture.update("a", #"{"n":1}"#)
        #expect(try await fixture.chain("a").isEmpty)
        let row = try #require(try await fixture.row("a"))
        #expect(row.shadow == nil && row.columns.text == #"{"n":1}"#)
        #expect(try await fixture.store.ledger().balances)
    }

    @Test func `a queued delete becomes an update when the item is written again`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"n":1,"t":"x"}"#, version: "v1"))
        try await fixture.delete("a")
        #expect(try await fixture.row("a")?.deleted == true)
        try await fixture.insert("a", #"{"n":2}"#)
        let operation = try #require(try await fixture.chain("a").first)
        #expect(operation.kind == .update && operation.baseVersion == "v1")
        #expect(operation.payload?.text == #"{"n":2,"t":null}"#)
        #expect(try await fixture.row("a")?.deleted == false)
    }

    @Test func `an undelete of a queued delete leaves nothing to send`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"n":1}"#, version: "v1"))
        try await fixture.delete("a")
        #expect(await fixture.write(.undelete(try ItemID("a"))).name == "undeleted")
        #expect(try await fixture.chain("a").isEmpty)
        #expect(try await fixture.row("a")?.deleted == false)
    }

    @Test func `If-Match accepts the store's version and the backend's`() async throws {
        let first = try await fixture.insert("a")
        let body = try Columns(parsing: #"{"text":"b"}"#)
        let wrong = await fixture.write(
            .update(first.id, body), ifMatch: .versions(["other"]))
        #expect(wrong.name == "preconditionFailed")
        try await fixture.push { _ in
            .applied(
                row: RemoteRow(id: first.id, columns: first.columns, version: "s1"), RowOrigin())
        }
        // The push changed no column that a client can see.
        #expect(try await fixture.row("a")?.version == first.version)
        let held = await fixture.write(
            .update(first.id, body), ifMatch: .versions([first.version]))
        #expect(held.name == "updated")
        // The backend's version does not match an item with local changes.
        let dropped = await fixture.write(
            .update(first.id, Columns()), ifMatch: .versions(["s1"]))
        #expect(dropped.name == "preconditionFailed")
    }

    @Test func `ids differ by case, and a lookup may fall back to the only match`() async throws {
        try await fixture.insert("Abc")
        #expect(try await fixture.update("aBC", #"{"n":1}"#).id.text == "Abc")
        try await fixture.insert("abc")
        #expect(await fixture.write(.delete(try ItemID("ABC"))).name == "unknownWhilePartial")
        #expect(try await fixture.update("abc", #"{"n":1}"#).id.text == "abc")
        try await fixture.insert("small-\u{e4}")
        #expect(try await fixture.update("SMALL-\u{e4}", #"{"n":1}"#).id.text == "small-\u{e4}")
        let other = try ItemID("small-\u{c4}")
        #expect(await fixture.write(.delete(other)).name == "unknownWhilePartial")
    }

    @Test func `the first spelling of a column is kept`() async throws {
        try await fixture.insert("a", #"{"Text":"x"}"#)
        let item = try await fixture.update("a", #"{"text":"y","TEXT":"z"}"#)
        #expect(item.columns.text == #"{"Text":"z"}"#)
        try await fixture.pull(fixture.remote("b", #"{"tExt":"p"}"#, version: "1"))
        #expect(try await fixture.row("b")?.columns.text == #"{"Text":"p"}"#)
    }

    @Test func `an absent item is unknown in a partial table and missing in a complete one`()
        async throws
    {
        #expect(try await fixture.delete("a").name == "unknownWhilePartial")
        #expect(try await fixture.store.tables().isEmpty)
        try await fixture.insert("b")
        #expect(try await fixture.delete("a").name == "unknownWhilePartial")
        let todo = fixture.todo
        try await fixture.store.write { transaction in
            var table = try transaction.tables.make(todo)
            table.isComplete = true
            try transaction.tables.save(table)
        }
        #expect(try await fixture.delete("a").name == "missing")
        #expect(fixture.get(try ItemID("a")) == .missing)
    }

    @Test func `tables can be restricted, and the SDKs' own tables are read-only`() async throws {
        let todo = try #require(TableName("todoitem"))
        let fixture = try StoreFixture(tables: [todo])
        try await fixture.insert("a")
        let other = try #require(TableName("other"))
        let system = try #require(TableName("ms_tableoperations"))
        let insert = WriteAction.insert(ItemBody(columns: Columns()))
        #expect(await fixture.write(insert, table: other).name == "tableNotAllowed")
        #expect(await self.fixture.write(insert, table: system).name == "tableNotAllowed")
    }

    @Test func `stamps grow strictly even when the clock stops or goes back`() async throws {
        var stamps: [Int64] = []
        for index in 0..<20 {
            let item = try await fixture.insert("i\(index)")
            stamps.append(item.updatedAt.milliseconds)
            fixture.clock.advance(milliseconds: index % 2 == 0 ? -5 : 0)
        }
        #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test func `inserts of an integer table get provisional ids that the backend's ids replace`()
        async throws
    {
        let todo = fixture.todo
        try await fixture.store.write { _ = try $0.tables.make(todo, idKind: .integer) }
        let outcome = await fixture.write(
            .insert(ItemBody(columns: try Columns(parsing: #"{"n":1}"#))))
        let item = try #require(outcome.item)
        #expect(item.id.number == StoreLimits.largestProvisionalID)
        try await fixture.push { operation in
            .applied(
                row: RemoteRow(id: ItemID(7), columns: operation.payload ?? Columns()),
                RowOrigin())
        }
        let found = fixture.get(item.id)
        guard case .item(let renamed, state: .synced) = found else {
            throw World.Failure("the provisional id must keep answering: \(found)")
        }
        #expect(renamed.id.number == 7)
    }
    @Test(arguments: [Generation.mobileApps, .datasync])
    func `a replacement keeps the columns that the client's generation hides`(
        _ generation: Generation
    ) async throws {
        // The columns of a first generation table, where the system's have underscores.
        let own = #""Version":"7.1","deleted":true,"updatedAt":"yesterday""#
        try await fixture.pull(
            fixture.remote("a", "{\"text\":\"x\",\"n\":1,\(own)}", version: "v1"))
        let outcome = await fixture.write(
            .replace(try ItemID("a"), Columns(stored: #"{"text":"y"}"#)), Conditions(),
            generation: generation)
        #expect(outcome.item?.columns.text == "{\"text\":\"y\",\(own)}")
        let operation = try #require(try await fixture.chain("a").first)
        #expect(operation.changes.text == #"{"text":"y","n":null}"#)
    }

    @Test func `a replacement by a client that sees a column sets it to null`() async throws {
        try await fixture.pull(
            fixture.remote("a", #"{"text":"x","createdAt":"1999","version":"7"}"#, version: "v1"))
        let outcome = await fixture.write(
            .replace(try ItemID("a"), Columns(stored: #"{"text":"y"}"#)), Conditions(),
            generation: .mobileServices)
        #expect(outcome.item?.columns.text == #"{"text":"y"}"#)
        let operation = try #require(try await fixture.chain("a").first)
        #expect(operation.changes.text == #"{"text":"y","createdAt":null,"version":null}"#)
    }
}
