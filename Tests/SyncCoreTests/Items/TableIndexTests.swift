import GRDB
import GRDBSQLite
import TablesProtocol
import Testing

@testable import Storage
@testable import SyncCore

/// Indexes that the operator builds.
@Suite struct TableIndexTests {
    let fixture: StoreFixture
    static let costly = "$filter=Title eq 't3'&$top=5"

    init() async throws {
        fixture = try StoreFixture()
        try await fixture.fill(900)
    }

    private func list(_ query: String, times: Int = 1) throws -> [String] {
        var ids: [String] = []
        for _ in 0..<times {
            guard case .page(let page) = fixture.list(try TableQuery(odata: query)) else {
                throw Unexpected()
            }
            ids = page.items.map(\.id.text)
        }
        return ids
    }

    struct Unexpected: Error {}

    private func indexes() async throws -> [IndexStatus] {
        try #require(try await fixture.store.tables().first).indexes
    }

    /// Builds the index that a list needs.
    private func build(_ query: String) async throws {
        let start = try await fixture.store.startIndex(
            fixture.todo, for: try TableQuery(odata: query))
        guard case .started(let id) = start else { throw Unexpected() }
        try await fixture.untilMade(id)
    }

    private let none = "$filter=Title eq 'none'"

    @Test func `readers with the old plan prepared use a new index`() async throws {
        let before = try list(none)
        _ = try list(Self.costly)
        try await build(none)
        let rows = try list(Self.costly)
        #expect(rows.count == 5 && before.isEmpty)
    }

    @Test(arguments: [
        "$filter=Title eq 't3'", "$filter=done eq false and Title eq 't3'&$orderby=n desc",
        "$filter=n gt 20&$orderby=n", "$filter=n lt 20.5 and done&$orderby=n desc",
        "$filter=Title gt 't3'&$orderby=Title", "$filter=done eq true&$orderby=updatedAt desc",
        "$filter=gone eq null&$orderby=createdAt",
        "$filter=Title eq 't3' and updatedAt ge 2020-01-01T00:00:00Z&$orderby=updatedAt",
        "$orderby=Title desc,n",
    ])
    func `a list in the index's order searches it and sorts nothing`(query: String) async throws {
        let query = try TableQuery(odata: query + "&$top=50")
        guard
            case .started(let id) = try await fixture.store.startIndex(fixture.todo, for: query)
        else { throw Unexpected() }
        try await fixture.untilMade(id)
        let todo = fixture.todo
        let plan = try await fixture.store.read { transaction in
            let table = try #require(try transaction.tables.table(todo))
            let page = ItemQuery(query, table: table, pageRows: 50).page
            return try transaction.all("EXPLAIN QUERY PLAN \(page.text)", page.arguments) {
                $0[3] as String
            }
        }
        #expect(
            plan.count == 1 && plan[0].contains("USING INDEX \(TableIndex.name(id))"), "\(plan)")
    }

    @Test func `an index that an earlier version made is made anew when the store is opened`()
        async throws
    {
        try await build("$orderby=Title")
        let name = TableIndex.name(1)
        let made = "SELECT sql FROM sqlite_schema WHERE name = '\(name)'"
        let sql = try await fixture.store.read { try $0.first(made) { $0[0] as String } }
        try await fixture.store.write { transaction in
            try transaction.run("DROP INDEX \(name)")
            try transaction.run(
                "CREATE INDEX \(name) ON items(json_extract(columns,'$.\"Title\"'), id) "
                    + "WHERE +table_id = 1")
        }
        try fixture.store.close()
        let reopened = try fixture.reopened()
        #expect(try await reopened.read { try $0.first(made) { $0[0] as String } } == sql)
        #expect(sql?.contains("odata_ordered") == true)
    }

    @Test func `a list that no index returns in order does not use one`() async throws {
        try await build(none)
        let todo = fixture.todo
        for query in ["$filter=Title eq 't3' and id gt 'r1'", "$filter=Title gt 't3'", "$top=1"] {
            let query = try TableQuery(odata: query)
            let plan = try await fixture.store.read { transaction in
                let table = try #require(try transaction.tables.table(todo))
                let page = ItemQuery(query, table: table, pageRows: 50).page
                return try transaction.all("EXPLAIN QUERY PLAN \(page.text)", page.arguments) {
                    $0[3] as String
                }.joined()
            }
            #expect(plan.contains("table_id=?") && !plan.contains("items_index"), "\(plan)")
        }
    }

    @Test func `statements with bound values are not prepared again for each value`() async throws {
        try await build(none)
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

    @Test func `an index outlives a restart`() async throws {
        try await build(none)
        let before = try await indexes()
        let again = try fixture.reopened()
        #expect(try await again.tables().first?.indexes == before)
        #expect(before.map(\.columns) == [["Title"]])
        #expect(try await again.check().isEmpty)
    }

    @Test func `a person builds and drops an index, but not a fifth`() async throws {
        var ids: [Int64] = []
        for column in ["a", "b", "c", "d"] {
            let query = try TableQuery(odata: "$filter=\(column) eq 1")
            guard
                case .started(let id) = try await fixture.store.startIndex(
                    fixture.todo, for: query)
            else { throw Unexpected() }
            try await fixture.untilMade(id)
            ids.append(id)
        }
        let fifth = try TableQuery(odata: "$filter=e eq 1")
        // Not even if the build was requested before the fourth index existed.
        let todo = fixture.todo
        let late = try await fixture.store.write { transaction in
            let table = try #require(try transaction.tables.table(todo))
            let shape = try #require(IndexShape(terms: ["=e"]))
            let indexes = TableIndexes(transaction)
            let id = try #require(try indexes.row(of: shape, in: table.id))
            let making = try indexes.build(id)
            _ = try indexes.drop(id, of: table.id)
            return making
        }
        #expect(late == .tooMany)
        #expect(try await fixture.store.startIndex(fixture.todo, for: fifth) == .tooMany)
        let first = try TableQuery(odata: "$filter=a eq 1")
        #expect(
            try await fixture.store.startIndex(fixture.todo, for: first) == .present(ids[0]))
        #expect(
            try await fixture.store.startIndex(fixture.todo, for: TableQuery()) == .notServed)
        #expect(try await fixture.store.dropIndex(fixture.todo, ids[0]))
        #expect(try await !fixture.store.dropIndex(fixture.todo, ids[0]))
        guard case .started(let id) = try await fixture.store.startIndex(fixture.todo, for: fifth)
        else {
            throw Unexpected()
        }
        try await fixture.untilMade(id)
        #expect(try await indexes().count == 4)
    }

    @Test func `an index that cannot be built has a reason`() async throws {
        // Its name is taken, as in a damaged file.
        try await fixture.store.write { transaction in
            try transaction.run("CREATE INDEX \(TableIndex.name(1)) ON items(settled_at)")
        }
        let query = try TableQuery(odata: none)
        #expect(try await fixture.store.startIndex(fixture.todo, for: query) == .started(1))
        try await fixture.untilEnded()
        #expect(try await indexes().first?.problem?.contains("already exists") == true)
        // The next start of the program does not know of it.
        #expect(try await fixture.reopened().tables().first?.indexes == [])
    }

    @Test func `an index does not use the part of the budget that is kept for writes`() async throws
    {
        let bytes = try await fixture.store.read { transaction in
            try #require(try transaction.integer("PRAGMA page_count")) * 4096
        }
        let small = try StoreFixture(budgetBytes: Int(bytes) * 11 / 10)
        try await small.fill(900)
        let none = try TableQuery(odata: none)
        guard
            case .started(let id) = try await small.store.startIndex(small.todo, for: none)
        else { throw Unexpected() }
        try await small.untilEnded()
        let index = try #require(try await small.store.tables().first?.indexes.first)
        #expect(index.builtAt == nil && index.problem?.contains("no room") == true)
        // The next index gets the same number, without the old reason.
        #expect(try await small.store.dropIndex(small.todo, id))
        #expect(small.store.indexProgress.present.problems.isEmpty)
        let other = try TableQuery(odata: "$orderby=n")
        #expect(try await small.store.startIndex(small.todo, for: other) == .started(id))
        try await small.untilEnded()
    }
}

extension StoreFixture {
    /// Waits until an index is built.
    func untilMade(_ id: Int64) async throws {
        while true {
            let indexes = try await store.tables().flatMap(\.indexes)
            if indexes.contains(where: { $0.id == id && $0.builtAt != nil && $0.percent == nil }),
                store.indexProgress.present.index == nil
            {
                return
            }
            await Task.yield()
        }
    }

    /// Waits until no index is being built.
    func untilEnded() async throws {
        while store.indexProgress.present.index != nil { await Task.yield() }
    }
}
