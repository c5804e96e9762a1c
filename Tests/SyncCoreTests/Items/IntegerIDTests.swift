import TablesProtocol
import Testing

@testable import SyncCore

/// A table's ids are strings until the backend or the operator says otherwise.
@Suite struct IntegerIDTests {
    private let top = StoreLimits.largestProvisionalID
    let fixture: StoreFixture
    var store: Store { fixture.store }
    init() throws { fixture = try StoreFixture() }

    private func add(_ columns: String = #"{"text":"x"}"#) async throws -> ItemID {
        let body = ItemBody(columns: try Columns(parsing: columns))
        return try #require(await fixture.write(.insert(body)).item).id
    }

    private func adopt() async throws -> IDKind {
        let todo = fixture.todo
        return try await store.write { transaction in
            var table = try transaction.tables.make(todo)
            try IDKinds(transaction: transaction).adoptIntegerIDs(&table)
            return table.idKind
        }
    }

    private func shown(_ id: ItemID) async throws -> ItemRow? {
        let todo = fixture.todo
        return try await store.read { transaction in
            try transaction.tables.table(todo).flatMap { try transaction.items.row($0, id) }
        }
    }

    @Test func `earlier inserts get provisional ids, and their old ids still find them`()
        async throws
    {
        let (first, second) = (try await add(), try await add(#"{"text":"y"}"#))
        #expect(try await adopt() == .integer)
        for (id, number) in [(first, top), (second, top - 1)] as [(ItemID, Int64)] {
            let row = try #require(try await shown(id))
            #expect(row.id.number == number && row.id.kind == .integer)
            #expect(try await store.read { try $0.queue.chain(of: row) }.first?.itemID == row.id)
        }
        // Then the backend's id replaces both.
        let operation = try #require(try await fixture.send())
        let row = RemoteRow(id: ItemID(7), columns: try Columns(parsing: #"{"text":"x"}"#))
        try await fixture.settle(operation.seq, .applied(row: row, RowOrigin()))
        #expect(try await shown(first)?.id == ItemID(7))
        #expect(try await shown(ItemID(top))?.id == ItemID(7))
    }

    @Test func `an old id of an item that is forgotten finds nothing`() async throws {
        _ = try await add()
        #expect(try await adopt() == .integer)
        let operation = try #require(try await fixture.send())
        let row = RemoteRow(id: ItemID(7), columns: try Columns(parsing: #"{"text":"x"}"#))
        try await fixture.settle(operation.seq, .applied(row: row, RowOrigin()))
        let todo = fixture.todo
        try await store.write { transaction in
            let table = try #require(try transaction.tables.table(todo))
            try transaction.items.remove(ItemID(7), from: table, leavingTombstone: false)
        }
        // By now another row may have the id.
        #expect(try await store.presentID(of: ItemID(top), in: todo) == ItemID(top))
        #expect(try await store.presentID(of: ItemID(8), in: todo) == ItemID(8))
    }

    @Test func `an insert that was refused for its id is due again`() async throws {
        let id = try await add()
        let operation = try #require(try await fixture.send())
        try await fixture.settle(
            operation.seq, .quarantined(reason: "id", maybeApplied: false))
        #expect(try await adopt() == .integer)
        let row = try #require(try await shown(id))
        #expect(try await store.read { try $0.queue.chain(of: row) }.first?.state == .queued)
    }

    @Test func `a table with other ids or an insert in flight keeps string ids`()
        async throws
    {
        _ = try await add()
        let operation = try #require(try await fixture.send())
        #expect(try await adopt() == .string)
        try await fixture.settle(
            operation.seq, .waiting(reason: "later", until: nil))
        try await fixture.insert("given")
        #expect(try await adopt() == .string)
    }

    @Test
    func `an answer with an integer id changes the table, and old ids still find their items`()
        async throws
    {
        let (first, second) = (try await add(), try await add(#"{"text":"y"}"#))
        let operation = try #require(try await fixture.send())
        let row = RemoteRow(id: ItemID(1), columns: try Columns(parsing: #"{"text":"x"}"#))
        try await fixture.settle(operation.seq, .applied(row: row, RowOrigin()))
        #expect(try await store.tables().first?.idKind == .integer)
        for (id, number) in [(first, 1), (second, top)] as [(ItemID, Int64)] {
            let row = try #require(try await shown(id))
            #expect(row.id.number == number && row.id.kind == .integer)
        }
        // The tombstone of the first id has a text in a list of a table of integer ids.
        var ids: [String: IDKind] = [:]
        if case .partial(let page) = fixture.list(TableQuery(includeDeleted: true)) {
            for item in page.items { ids[item.id.text] = item.id.kind }
        }
        #expect(
            ids == [
                "1": .integer, String(top): .integer, first.text: .string, second.text: .string,
            ])
    }

    @Test func `rows with text ids change a table of integer ids back`() async throws {
        let id = try await add()
        #expect(try await adopt() == .integer)
        let todo = fixture.todo
        try await store.write { transaction in
            let row = RemoteRow(
                id: try ItemID("a"), columns: try Columns(parsing: #"{"text":"b"}"#))
            _ = try IDKinds(transaction: transaction).tableForRows(todo, [.row(row)])
        }
        #expect(try await store.tables().first?.idKind == .string)
        for given in [id, ItemID(top)] {
            let row = try #require(try await shown(given))
            #expect(row.id.kind == .string && row.id.number == nil)
            #expect(row.columns.text == #"{"text":"x"}"#)
        }
    }

    @Test func `a local item with a number as its id does not hide the backend's row`() async throws
    {
        let five = try await fixture.insert("5", #"{"text":"mine"}"#)
        let todo = fixture.todo
        // A request for it may have arrived, so it keeps its id. The backend has another item 5.
        let operation = try #require(try await fixture.send())
        try await fixture.settle(
            operation.seq, .unknown(reason: "lost", until: Instant(milliseconds: 0)))
        try await store.write { transaction in
            let theirs = RemoteRow(
                id: ItemID(5), columns: try Columns(parsing: #"{"text":"theirs"}"#), version: "v5")
            var table = try IDKinds(transaction: transaction).tableForRows(todo, [.row(theirs)])
            _ = try PulledRows(transaction: transaction).take(.row(theirs), to: table, asOf: .max)
            table.isComplete = true
            try transaction.tables.save(table)
        }
        let again = try #require(try await fixture.send())
        let seven = RemoteRow(id: ItemID(7), columns: try Columns(parsing: #"{"text":"mine"}"#))
        try await fixture.settle(again.seq, .applied(row: seven, RowOrigin()))
        guard case .page(let page) = fixture.list(TableQuery()) else {
            throw World.Failure("no page")
        }
        let texts = Dictionary(
            uniqueKeysWithValues: page.items.map { ($0.id.text, $0.columns.text) })
        #expect(texts == ["5": #"{"text":"theirs"}"#, "7": #"{"text":"mine"}"#])
        #expect(five.id.text == "5" && page.items.allSatisfy { $0.id.kind == .integer })
    }
}
