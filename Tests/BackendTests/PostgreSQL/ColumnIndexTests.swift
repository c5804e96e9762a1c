import PostgreSQL
import TablesProtocol
import TestSupport
import Testing

@testable import Backend
@testable import Site

/// Indexes that the operator has built for lists in PostgreSQL.
@Suite struct ColumnIndexTests {
    private let storage: PostgreSQLRowStorage
    private let schema = PostgreSQLServer.newSchema()
    private let table: TableUnderTest

    init() throws {
        let storage = try PostgreSQLRowStorage(at: PostgreSQLServer.url(), schema: schema)
        self.storage = storage
        let names: [(String, TableOptions.ColumnType)] = [
            ("text", .string), ("price", .number), ("done", .boolean), ("due", .string),
        ]
        table = try TableUnderTest(
            StorageUnderTest(testDescription: "PostgreSQL") { storage }, "Things",
            TableOptions(columns: names.map { TableOptions.Column($0.0, $0.1) }))
    }

    private func add(_ column: String, to name: String = "things") throws -> Bool {
        try storage.addIndex(#require(WantedIndex("\(name):\(column)")))
    }

    private func names() throws -> [String] {
        try storage.pool.withConnection { connection in
            try connection.run(
                "SELECT indexname FROM pg_indexes WHERE schemaname = $1::name AND indexname LIKE '% by %'",
                [.text(schema)]
            ).map { try $0.text(0) }
        }
    }

    private func problem(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "none"
        } catch {
            return "\(error)"
        }
    }

    /// 4,000 rows, and as many of another table, all of whose rows have a text that ten rows have here.
    private func fill() throws {
        try storage.declare(#require(TableName("others")), TableOptions())
        try storage.pool.withConnection { connection in
            try connection.run(
                script: """
                    INSERT INTO items (table_key, id, columns, content, moments, created_at, created_ticks,
                      stamp, stamp_ticks, version, deleted)
                    SELECT tables.key, md5(i::text), content::text, content::jsonb,
                      jsonb_build_object('due', 638000000000000000 + i * 864000000000), i, 0, i, 0, 'v', false
                    FROM tables, generate_series(1::bigint, 4000) i, LATERAL (SELECT json_build_object(
                      'text', CASE WHEN folded = 'others' OR i % 400 = 7 THEN 'Buy 17 eggs' ELSE 'Buy ' || i END,
                      'price', i * 7919 % 2001, 'done', md5(i::text) < '8',
                      'due', to_char(date '2022-09-28' + i::integer, 'YYYY-MM-DD')) content) c;
                    ANALYZE items
                    """)
        }
    }

    @Test func `a filter by a value finds the rows of its table alone`() throws {
        try fill()
        let plan = try storage.plan(table.query("text eq 'Buy 17 eggs'"))
        #expect(plan.contains("Bitmap Index Scan on items_1_content_idx"), "\(plan)")
        #expect(!plan.contains("items_2"), "\(plan)")
        #expect(try table.ids("text eq 'Buy 17 eggs'").count == 10)
    }

    @Test(
        arguments: [
            ("price desc", "done eq false", "price desc", 0), ("price", nil, "price,id", 0),
            ("price", nil, "price desc", 40), ("done desc", nil, "done desc", 0),
            ("text desc", nil, "Text desc", 10), ("price", "price gt 1990", nil, 0),
            ("price", "11 ge price", "id", 0),
            ("due", "due gt datetime'2033-01-01T00:00:00Z'", "due", 0),
        ] as [(String, String?, String?, Int)])
    func `an index serves its lists and changes none of them`(
        column: String, filter: String?, order: String?, skip: Int
    ) throws {
        try fill()
        var query = try table.query(filter, by: order)
        query.counts = true
        query.limit = 20
        query.skip = skip
        let before = try storage.list(query)
        #expect(try !storage.plan(query).contains("items_1 by") && !before.rows.isEmpty)
        #expect(try add(column))
        #expect(try !add(column))
        #expect(try names() == ["items_1 by \(column)"])
        #expect(try storage.list(query) == before)
        let plan = try storage.plan(query)
        #expect(plan.contains("\"items_1 by \(column)\""), "\(plan)")
        #expect(!plan.contains("Seq Scan"), "\(plan)")
        try storage.dropIndexes(but: [])
        #expect(try names() == [] && storage.list(query) == before)
    }

    @Test func `long values are written, and listed in their order`() throws {
        for column in ["text", "text desc", "due", "price"] { #expect(try add(column)) }
        let long = String(repeating: "😀", count: 3000)
        let id = String(repeating: "i", count: 1024)
        let begin = String(repeating: "😀", count: 80)
        try table.insert("a", #"{"text":"\#(long)b","due":"\#(long)","price":"\#(long)"}"#)
        try table.insert(id, #"{"text":"\#(long)a","due":"\#(long)","price":"\#(long)"}"#)
        try table.insert("c", #"{"text":"x","price":1e308}"#)
        try table.insert("d", #"{"text":"\#(begin)"}"#)
        #expect(try table.ids(by: "text") == ["c", "d", id, "a"])
        #expect(try table.ids(by: "text desc") == ["a", id, "d", "c"])
        #expect(try table.ids(by: "due desc") == ["a", id, "c", "d"])
        #expect(try table.ids(by: "price") == ["d", "c", "a", id])
    }

    @Test func `what cannot be built is refused with a sentence`() throws {
        #expect(
            problem { _ = try add("price", to: "nothing") }
                == "There is no table nothing: it comes with its first row.")
        #expect(
            problem { _ = try add("colour") }
                == "The table Things has no column colour. It has done, due, price, text.")
        for text in ["length(text)", "price,text", "updatedAt", "id", "", "a b c"] {
            #expect(WantedIndex("things:\(text)") == nil, "\(text)")
        }
        for column in ["text", "price", "done", "due"] {
            #expect(try add(column))
            #expect(try add("\(column) desc"))
        }
        // One that is there is no further one.
        #expect(try !add("Due"))
        #expect(
            problem { _ = try add("due/day") } == "A table has 8 indexes at most.")
        let other = try PostgreSQLPool(PostgreSQLServer.url(), schema: schema)
        try other.withConnection { connection in
            try connection.run(
                "SELECT pg_advisory_lock(\(PostgreSQLIndexes.lock))", [.text(schema)])
            #expect(
                problem { try storage.dropIndexes(but: []) }
                    == "Another node builds or drops an index.")
        }
    }

    @Test func `an index that no setting names is dropped`() throws {
        for column in ["price", "text", "due"] { #expect(try add(column)) }
        let kept = try ["Things:Price", "things:text desc"].map { try #require(WantedIndex($0)) }
        try storage.dropIndexes(but: kept)
        #expect(try names() == ["items_1 by price"])
        let record = try storage.pool.withConnection { try PostgreSQLTables.find($0, table.name) }
        #expect(record?.indexes == [try #require(IndexShape("price"))])
    }

    @Test func `what a build that was ended has left is built anew`() throws {
        try storage.pool.withConnection {
            try $0.run(
                script: """
                    CREATE INDEX "items_1 by price" ON items_1 (id);
                    UPDATE pg_index SET indisvalid = false WHERE indexrelid = '"items_1 by price"'::regclass
                    """)
        }
        #expect(try add("price") && names() == ["items_1 by price"])
        // Another node sees it with its next request.
        let node = try PostgreSQLRowStorage(at: PostgreSQLServer.url(), schema: schema)
        try fill()
        var query = try table.query(by: "price")
        query.limit = 20
        let plan = try node.plan(query)
        #expect(plan.contains("items_1 by price"), "\(plan)")
    }
}

extension PostgreSQLRowStorage {
    /// How PostgreSQL would run a list.
    fileprivate func plan(_ query: RowQuery) throws -> String {
        try pool.inReadTransaction { connection in
            let record = try #require(try PostgreSQLTables.find(connection, query.table))
            let page = try #require(PostgreSQLList(query, record).page)
            let explained = SQLFragment("EXPLAIN \(page.text)", page.arguments)
            return try connection.run(explained).map { try $0.text(0) }.joined(separator: "\n")
        }
    }
}
