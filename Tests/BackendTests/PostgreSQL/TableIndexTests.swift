import PostgreSQL
import TablesProtocol
import TestSupport
import Testing

@testable import Backend
@testable import Site

/// Indexes that the operator has built for lists in PostgreSQL.
@Suite struct TableIndexTests {
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

    private func add(_ list: String, to name: String = "things") throws -> TableIndex {
        let parameters = try QueryParameter.split(list[...])
        return try storage.addIndex(
            to: #require(TableName(name)), for: .parse(parameters, generation: .mobileApps))
    }

    private func names() throws -> [String] {
        try storage.pool.withConnection { connection in
            try connection.run(
                """
                SELECT indexname FROM pg_indexes WHERE schemaname = $1::name
                AND (indexname LIKE 'items_index_%' OR indexname LIKE 'items_odd%') ORDER BY indexname
                """, [.text(schema)]
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

    /// 4,000 rows, and as many of another table, all of whose rows have a text that nine rows have here.
    private func fill() throws {
        let other = try #require(TableName("others"))
        try storage.declare(other, TableOptions())
        try storage.pool.withConnection { connection in
            try connection.run(
                script: """
                    INSERT INTO items (table_key, id, columns, content, moments, created_at, created_ticks,
                      stamp, stamp_ticks, version, deleted)
                    SELECT tables.key, md5(i::text), content::text, content::jsonb,
                      jsonb_build_object('due', 638000000000000000 + i * 864000000000), i, 0, i, 0, 'v', false
                    FROM tables, generate_series(1::bigint, 4000) i, LATERAL (SELECT json_build_object(
                      'text', CASE WHEN folded = 'others' OR i % 400 = 7 THEN 'Buy 17 eggs' ELSE 'Buy ' || i END,
                      'price', i * 7919 % 4001, 'done', i % 2 = 0,
                      'due', to_char(date '2022-09-28' + i::integer, 'YYYY-MM-DD')) content) c
                    """)
            try connection.run(script: "ANALYZE items")
        }
    }

    @Test(arguments: [
        ("$filter=text eq 'x'", "text eq 'Buy 17 eggs'", nil),
        ("$filter=text eq 'x'&$orderby=price", "text eq 'Buy 17 eggs'", "price"),
        ("$filter=done eq true&$orderby=price desc", "done eq false", "price desc"),
        ("$orderby=price", nil, "price"), ("$orderby=price", "price gt 3990", nil),
        ("$orderby=price", "price le 3.5", "price"), ("$orderby=price desc", "17 gt price", nil),
        ("$orderby=due", "due gt datetime'2033-01-01T00:00:00Z'", "due"),
        ("$orderby=text", nil, "text"), ("$orderby=text desc", nil, "text desc"),
    ] as [(String, String?, String?)])
    func `an index serves its lists and changes none of them`(
        list: String, filter: String?, order: String?
    ) throws {
        try fill()
        var query = try table.query(filter, by: order)
        query.counts = true
        query.limit = 20
        let before = try storage.list(query)
        #expect(try storage.plan(query).contains("items_index_") == false)
        #expect(try add(list) == TableIndex(number: 1, shape: add(list).shape))
        let after = try storage.list(query)
        #expect(after == before && !before.rows.isEmpty)
        let plan = try storage.plan(query)
        #expect(plan.contains("items_index_1"), "\(plan)")
        // Nine rows are sorted, of others only the first ones are read.
        let isFew = filter?.hasPrefix("text") == true
        #expect(order == nil || isFew || !plan.contains("Sort"), "\(plan)")
        try storage.dropIndex(1, of: table.name)
        #expect(try names() == [] && storage.list(query) == before)
    }

    @Test func `long values are written, and listed in their order`() throws {
        for list in ["$orderby=text,due,price,done", "$orderby=text desc"] { _ = try add(list) }
        let long = String(repeating: "😀", count: 3000)
        let id = String(repeating: "i", count: 1024)
        try table.insert("a", #"{"text":"\#(long)b","due":"\#(long)","price":"\#(long)","done":"\#(long)"}"#)
        try table.insert(id, #"{"text":"\#(long)a","due":"\#(long)","price":"\#(long)","done":"\#(long)"}"#)
        try table.insert("c", #"{"text":"x","price":1e308}"#)
        #expect(try table.ids(by: "text,due,price,done") == ["c", id, "a"])
        #expect(try table.ids(by: "text desc") == ["a", id, "c"])
        #expect(try names() == ["items_index_1", "items_index_2", "items_oddities_1", "items_oddities_2"])
    }

    @Test func `what cannot be built is refused with a sentence`() throws {
        #expect(
            problem { _ = try add("$orderby=price", to: "nothing") }
                == "There is no table nothing: it comes with its first row.")
        #expect(
            problem { _ = try add("$orderby=colour") } == "The table Things has no column colour.")
        #expect(
            problem { _ = try add("$orderby=length(text)") }
                == "No index helps this query: it needs a column that is held to one value, or an order "
                + "by a column.")
        #expect(
            problem { try storage.dropIndex(3, of: table.name) }
                == "The table things has no index 3. See: indexes list."
                .replacing("things", with: "Things"))
        for list in ["text", "price", "done", "due"] { _ = try add("$orderby=\(list)") }
        #expect(
            problem { _ = try add("$orderby=price desc") }
                == "The table things has 4 indexes already: drop one first.")
        // One that is there is no further one.
        #expect(try add("$orderby=Due").number == 4)
        let other = try PostgreSQLPool(PostgreSQLServer.url(), schema: schema)
        try other.withConnection { connection in
            try connection.run(
                "SELECT pg_advisory_lock(\(PostgreSQLIndexes.lock))", [.text(schema)])
            #expect(
                problem { try storage.dropIndex(1, of: table.name) }
                    == "Another index is being built or dropped: try again when it is done.")
        }
    }

    @Test func `what a command that was ended has left goes with the next one`() throws {
        _ = try storage.pool.withConnection {
            try $0.run(
                script: """
                    CREATE INDEX items_index_1 ON items (id); CREATE INDEX items_oddities_8 ON items (id)
                    """)
        }
        let index = try add("$filter=done eq true")
        #expect(index.number == 1 && index.shape.words == ["done"])
        #expect(try names() == ["items_index_1"])
        // Another node sees it with its next request.
        let node = try PostgreSQLRowStorage(at: PostgreSQLServer.url(), schema: schema)
        #expect(try node.indexes().map(\.index) == [index])
    }
}

extension PostgreSQLRowStorage {
    /// How PostgreSQL would run a list; empty where it cannot judge it alone.
    func plan(_ query: RowQuery) throws -> String {
        try pool.inReadTransaction { connection in
            let record = try #require(try PostgreSQLTables.find(connection, query.table))
            var list = PostgreSQLList(query, record)
            try list.lookForOddities(connection)
            guard let page = list.page else { return "" }
            let explained = SQLFragment("EXPLAIN \(page.text)", page.arguments)
            return try connection.run(explained).map { try $0.text(0) }.joined(separator: "\n")
        }
    }
}
