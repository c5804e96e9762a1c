import GRDB
import GRDBSQLite
import TablesProtocol
import Testing

@testable import Storage
@testable import SyncCore

/// Indexes that the settings of a table name.
@Suite struct TableIndexTests {
    let fixture: StoreFixture

    init() async throws {
        fixture = try StoreFixture()
        try await fixture.fill(900)
    }

    struct Unexpected: Error {}

    private func list(_ query: String) throws -> [String] {
        guard case .page(let page) = fixture.list(try TableQuery(odata: query)) else {
            throw Unexpected()
        }
        return page.items.map(\.id.text)
    }

    private func plan(_ query: TableQuery) async throws -> [String] {
        let todo = fixture.todo
        return try await fixture.store.read { transaction in
            let table = try #require(try transaction.tables.table(todo))
            let page = ItemQuery(query, table: table, pageRows: 50).page
            return try transaction.all("EXPLAIN QUERY PLAN \(page.text)", page.arguments) {
                $0[3] as String
            }
        }
    }

    private func warning(_ store: Store) async throws -> String? {
        try #require(try await store.tables().first).warning
    }

    @Test func `readers with the old plan prepared use a new index`() async throws {
        let costly = "$filter=Title eq 't3'&$top=5"
        let before = try list(costly)
        try await fixture.index(["Title"])
        #expect(try list(costly) == before && before.count == 5)
        #expect(try list("$filter=Title eq 'none'").isEmpty)
    }

    @Test(arguments: [
        ("Title", "$filter=Title eq 't3'"), ("title desc", "$filter=Title eq 't3'"),
        ("done,Title,n desc", "$filter=done eq false and Title eq 't3'&$orderby=n desc"),
        ("n", "$filter=n gt 20&$orderby=n"),
        ("n desc", "$filter=n lt 20.5 and done&$orderby=n desc"),
        ("Title", "$filter=Title gt 't3'&$orderby=Title"),
        ("done,updatedAt desc", "$filter=done eq true&$orderby=updatedAt desc"),
        ("done,createdAt", "$filter=done eq null&$orderby=createdAt"),
        (
            "Title,updatedAt",
            "$filter=Title eq 't3' and updatedAt ge 2020-01-01T00:00:00Z&$orderby=updatedAt"
        ),
        ("Title desc,n", "$orderby=Title desc,n"),
    ])
    func `a list in the index's order searches it and sorts nothing`(
        index: String, query: String
    ) async throws {
        try await fixture.index([index])
        let plan = try await plan(TableQuery(odata: query + "&$top=50"))
        #expect(
            plan.count == 1 && plan[0].contains("USING INDEX \(TableIndex.name(1))"), "\(plan)")
    }

    @Test func `a number is found by an index`() async throws {
        try await fixture.index(["n"])
        let plan = try await plan(TableQuery(odata: "$filter=n eq 20"))
        #expect(plan.first?.contains("USING INDEX \(TableIndex.name(1))") == true, "\(plan)")
    }

    @Test func `an index that an earlier version made is made anew`() async throws {
        try await fixture.index(["Title"])
        let name = TableIndex.name(1)
        let made = "SELECT sql FROM sqlite_schema WHERE name = '\(name)'"
        let sql = try await fixture.store.read { try $0.first(made) { $0[0] as String } }
        try await fixture.store.write { transaction in
            try transaction.run("DROP INDEX \(name)")
            try transaction.run(
                "CREATE INDEX \(name) ON items(json_extract(columns,'$.\"Title\"'), id) "
                    + "WHERE +table_id = 1")
            try transaction.run(
                """
                INSERT INTO table_indexes(table_id, shape, seen_at, built_at)
                VALUES (1, '["=Title"]', 1, 1)
                """)
        }
        try fixture.store.close()
        let reopened = try fixture.reopened()
        #expect(try await warning(reopened) == "Its index by Title is not built yet.")
        try await reopened.buildIndexes()
        try await reopened.untilBuilt()
        #expect(try await reopened.read { try $0.first(made) { $0[0] as String } } == sql)
        #expect(sql?.contains("odata_ordered") == true)
        #expect(try await reopened.tables().first?.indexes == ["Title"])
    }

    @Test func `a list that no index returns in order does not use one`() async throws {
        try await fixture.index(["Title"])
        for query in ["$filter=Title eq 't3' and id gt 'r1'", "$filter=Title gt 't3'", "$top=1"] {
            let plan = try await plan(TableQuery(odata: query)).joined()
            #expect(plan.contains("table_id=?") && !plan.contains("items_index"), "\(plan)")
        }
    }

    @Test func `statements with bound values are not prepared again for each value`() async throws {
        try await fixture.index(["Title"])
        let counts = try await fixture.store.read { transaction in
            let statement = try transaction.db.database.cachedStatement(
                sql: "SELECT rowid FROM items WHERE table_id = ? AND id > ? ORDER BY id")
            // The first execution may meet a schema that is new to this connection.
            return try ["r001", "r002", "r003", "r004"].map { id in
                _ = try Int64.fetchOne(statement, arguments: [1, id])
                return unsafe sqlite3_stmt_status(
                    statement.sqliteStatement, SQLITE_STMTSTATUS_REPREPARE, 0)
            }
        }
        #expect(counts.last == counts.first)
    }

    @Test func `an index outlives a restart, and goes with the setting`() async throws {
        try await fixture.index(["Title", "n desc"])
        try fixture.store.close()
        let again = try fixture.reopened()
        #expect(try await again.builtIndexes() == ["items_index_1", "items_index_2"])
        #expect(try await again.tables().first?.indexes == ["Title", "n desc"])
        #expect(try await warning(again) == nil)
        _ = try await again.updateTable(fixture.todo) { $0.indexes = ["n desc"] }
        #expect(try await again.builtIndexes() == ["items_index_2"])
        _ = try await again.updateTable(fixture.todo) { $0.indexes = [] }
        #expect(try await again.builtIndexes() == [])
        #expect(try await again.health.check().isEmpty)
    }

    @Test func `the status says which index would serve a list that was slow, until it is there`()
        async throws
    {
        let alternatives = (0..<200).map { "n eq -\($0)" }.joined(separator: " or ")
        let slow = try TableQuery(
            odata: "$filter=done eq false and (\(alternatives))&$orderby=Title desc")
        guard case .overBudget = fixture.list(slow), case .page = fixture.listUnhurried(slow) else {
            Issue.record("The list is not slow.")
            return
        }
        #expect(
            try await warning(fixture.store)
                == "A list of it looked through many rows. An index by done,Title desc would serve it."
        )
        try await fixture.index(["done,Title desc"])
        #expect(try await warning(fixture.store) == nil)
    }

    @Test func `an index by a column that comes later is built when it has come`() async throws {
        _ = try await fixture.store.updateTable(fixture.todo) { $0.indexes = ["Colour"] }
        #expect(
            try await warning(fixture.store)
                == "Its index by Colour is not built: no row has a column Colour.")
        #expect(try await fixture.store.builtIndexes() == [])
        try await fixture.insert("late", #"{"colour":"red"}"#)
        try await fixture.store.buildIndexes()
        try await fixture.store.untilBuilt()
        let plan = try await plan(TableQuery(odata: "$filter=COLOUR eq 'red'"))
        #expect(plan.joined().contains("USING INDEX"), "\(plan)")
        #expect(try list("$filter=colour eq 'red'") == ["late"])
    }

    @Test func `an index does not use the part of the budget that is kept for writes`() async throws
    {
        let bytes = try await fixture.store.read { transaction in
            try #require(try transaction.integer("PRAGMA page_count")) * 4096
        }
        let small = try StoreFixture(budgetBytes: Int(bytes) * 11 / 10)
        try await small.fill(900)
        _ = try await small.store.updateTable(small.todo) { $0.indexes = ["Title"] }
        while try await warning(small.store)?.contains("no room") != true { await Task.yield() }
        #expect(
            try await warning(small.store)
                == "Its index by Title is not built: the store has no room for it. Raise --disk-budget."
        )
        #expect(try await small.store.builtIndexes() == [])
    }
}

extension StoreFixture {
    /// Gives the table of the fixture indexes, and waits until they are built.
    func index(_ indexes: [String]) async throws {
        _ = try await store.updateTable(todo) { $0.indexes = indexes }
        try await store.untilBuilt()
    }
}

extension Store {
    /// The indexes of tables' settings that the file has.
    func builtIndexes() async throws -> [String] {
        try await read {
            try $0.column(
                "SELECT name FROM sqlite_schema WHERE name LIKE 'items_index_%' ORDER BY 1")
        }
    }

    /// Waits until the indexes are built that can be.
    func untilBuilt() async throws {
        while try await !read({ try TableIndexes($0).missing() }).isEmpty { await Task.yield() }
    }
}
