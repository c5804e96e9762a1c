import TablesProtocol
import Testing

@testable import Backend
@testable import Site

/// A client's condition is evaluated for the rows of its scope alone: the time that it takes would tell what
/// is in another user's row.
@Suite struct ScopeTests {
    /// Fewer steps than one `indexof` in a row of Ana's counts.
    private static let steps = 20_000
    private static let long = String(repeating: "x", count: 400_000)

    /// Storages in which a list that looks into a row of Ana's is ended.
    static let tight = [
        StorageUnderTest(testDescription: "SQLite in memory") {
            try SQLiteRowStorage(at: nil, listSteps: ScopeTests.steps)
        },
        StorageUnderTest(testDescription: "SQLite in a file") {
            try SQLiteRowStorage(at: StorageUnderTest.newFile(), listSteps: ScopeTests.steps)
        },
    ]

    /// A table with three items of Ana's, and two of Bob's.
    private func filled(
        _ kind: StorageUnderTest, ownerColumn: String?, _ text: String
    ) throws -> TableUnderTest {
        let columns: [TableOptions.Column] = [.init("owner", .string), .init("text", .string)]
        let table = try TableUnderTest(
            kind, "Things", TableOptions(columns: columns, ownerColumn: ownerColumn))
        for id in ["a", "c", "e"] {
            try table.insert(id, #"{"owner":"ana","text":"\#(text)"}"#)
        }
        for id in ["d", "b"] { try table.insert(id, #"{"owner":"bob","text":"his"}"#) }
        return table
    }

    private func query(
        _ table: TableUnderTest, of user: String, _ filter: String?, by order: String? = nil
    ) throws -> RowQuery {
        var query = try table.query(filter, by: order)
        query.filter = RowFilter(
            scope: .binary(.equal, .column(.user(path: ["owner"])), .literal(.string(user))),
            condition: query.filter?.condition)
        query.counts = true
        return query
    }

    /// A condition, and which of Bob's items it leaves.
    private static let conditions: [(String, [String])] = [
        ("indexof(text,'zz') eq 3", []), ("indexof(text,'s') eq 2", ["b", "d"]),
        ("not (indexof(text,'s') eq 2)", []), ("owner eq 'ana' or indexof(text,'zz') eq 3", []),
        ("text ne 'x' and indexof(tolower(text),'s') eq 2", ["b", "d"]),
    ]

    /// An order, and whether it turns Bob's items around.
    private static let orders: [(String?, Bool)] = [
        (nil, false), ("length(text)", false), ("updatedAt", true),
    ]

    @Test(arguments: tight, [nil, "owner"] as [String?])
    func `a condition is evaluated for no row of another user`(
        kind: StorageUnderTest, ownerColumn: String?
    ) throws {
        let table = try filled(kind, ownerColumn: ownerColumn, Self.long)
        for (condition, ids) in Self.conditions {
            for (order, isTurned) in Self.orders {
                let expected: [String] = isTurned ? ids.reversed() : ids
                for isExact in [false, true] {
                    var query = try query(table, of: "bob", condition, by: order)
                    query.isExact = isExact
                    let whole = try table.storage.list(query)
                    #expect(whole.rows.map(\.id) == expected, "\(condition) \(order ?? "")")
                    #expect(whole.count == ids.count)
                    (query.skip, query.limit) = (1, 1)
                    let page = try table.storage.list(query)
                    #expect(page.rows.map(\.id) == Array(expected.dropFirst()))
                    #expect(page.count == ids.count)
                }
            }
        }
        // One look into a row of Ana's would have ended each of these lists.
        let own = try query(table, of: "ana", Self.conditions[0].0)
        #expect(throws: TooMuchWork.self) { try table.storage.list(own) }
    }

    @Test(arguments: StorageUnderTest.all)
    func `a list has the rows of its scope, whatever its condition says`(
        kind: StorageUnderTest
    ) throws {
        let table = try filled(kind, ownerColumn: "owner", "hers")
        for (user, condition, ids) in [
            ("bob", nil, ["b", "d"]), ("bob", "owner ne 'bob'", []), ("bob", "id ge 'c'", ["d"]),
            ("ana", "owner eq 'bob' or id ne 'c'", ["a", "e"]), ("eve", nil, []),
            ("ana", "updatedAt gt datetimeoffset'2027-01-15T08:00:00.000Z'", ["c", "e"]),
            ("ana", "updatedAt gt datetimeoffset'2027-01-15T08:00:00.000Z' and id gt 'c'", ["e"]),
        ] as [(String, String?, [String])] {
            let list = try table.storage.list(query(table, of: user, condition))
            #expect(list.rows.map(\.id) == ids, "\(user) \(condition ?? "")")
            #expect(list.count == ids.count)
        }
    }

    @Test func `the index of the owner leads past the rows of all others`() throws {
        let table = try TableUnderTest(
            StorageUnderTest(testDescription: "few steps") {
                try SQLiteRowStorage(at: nil, listSteps: 5_000)
            }, "Things", TableOptions(ownerColumn: "owner"))
        for number in 0..<4_000 { try table.insert("a\(number)", #"{"owner":"ana"}"#) }
        for id in ["c", "b"] { try table.insert(id, #"{"owner":"bob"}"#) }
        let lists: [(filter: String?, order: String?, ids: [String])] = [
            (nil, nil, ["b", "c"]), (nil, "updatedAt", ["c", "b"]), ("id ne 'c'", nil, ["b"]),
            ("updatedAt ge datetimeoffset'2027-01-15T08:00:00Z'", "updatedAt", ["c", "b"]),
        ]
        func found() throws -> [[String]] {
            try lists.map { list in
                try table.storage.list(query(table, of: "bob", list.filter, by: list.order))
                    .rows.map(\.id)
            }
        }
        #expect(try found() == lists.map(\.ids))
        // The index goes with the option, and comes again.
        try table.storage.declare(table.name, TableOptions())
        #expect(throws: TooMuchWork.self) { try found() }
        try table.storage.declare(table.name, TableOptions(ownerColumn: "owner"))
        #expect(try found() == lists.map(\.ids))
    }

    @Test func `the order of CASE holds a condition back in both dialects`() throws {
        let table = try TableUnderTest(StorageUnderTest.all[0])
        let record = TableRecord(
            key: 7, table: StoredTable(name: table.name, options: TableOptions()), lastStamp: 0,
            lastNumber: 0)
        let filter = "updatedAt gt datetimeoffset'2027-01-15T08:00:00Z' and n eq 3"
        var query = try query(table, of: "bob", filter)
        let scope = try #require(query.filter?.scope)
        let condition = try #require(query.filter?.condition)
        let sqlite = SQLCompiler(ItemSQLSchema())
        let (owned, judged) = (sqlite.filter(scope).text, sqlite.filter(condition).text)
        #expect(
            ListSQL(query, record).source.text == """
                items WHERE CASE WHEN (\(owned)) IS NOT 1 THEN 0 ELSE \(judged) END AND table_key = 7 \
                AND deleted = 0 AND (+table_key = 7) AND (\(owned)) AND ((stamp > ?))
                """)
        #expect(
            PostgreSQLList(query, record).condition?.text == """
                table_key = ?::bigint AND NOT deleted AND ((content @> ?::jsonb)) \
                AND ((stamp > ?::bigint)) AND (CASE WHEN (content @> ?::jsonb) IS NOT TRUE THEN FALSE \
                ELSE ((stamp > ?::bigint) AND ((content @> ?::jsonb) OR (content @> ?::jsonb))) END)
                """)
        query.filter?.scope = nil
        #expect(!ListSQL(query, record).source.text.contains("CASE WHEN (("))
    }

    @Test func `the deepest conditions run within a scope`() throws {
        let table = try TableUnderTest(
            StorageUnderTest.all[0], "Things", TableOptions(ownerColumn: "owner"))
        try table.insert("a", #"{"owner":"ana","s":"a","n":1,"b":true}"#)
        for (leaf, wrap) in [
            ("b", { "not (\($0))" }), ("s", { "replace('a','b',\($0))" }),
            ("n", { "(1 add \($0))" }), ("b", { "(b and (b or \($0)))" }),
            ("s", { "concat(s,concat(s,\($0)))" }), ("b", { "(n eq 1) eq (\($0) eq n)" }),
        ] as [(String, (String) -> String)] {
            let all = (1...Self.tooDeep).map { count in
                "not ((\((0..<count).reduce(leaf) { text, _ in wrap(text) })) ne n)"
            }
            let deepest = all.last { (try? table.query($0)) != nil }
            let condition = try #require(deepest)
            for nulls in NullComparison.allCases {
                var query = try query(table, of: "ana", condition)
                query.nulls = nulls
                // A parser whose stack is full throws.
                _ = try table.storage.list(query)
            }
        }
    }

    /// More levels than an expression may have.
    private static let tooDeep = 40
}

/// A list that needs too much work, and what the storage does meanwhile.
@Suite struct HeavyListTests {
    private static let steps = 20_000
    private static let long = String(repeating: "x", count: 400_000)
    private static let heavy = "/tables/todos?$filter=indexof(text,%27zz%27)%20eq%203"

    @Test func `a heavy list is refused with what to do, and all else is answered`() throws {
        let client = try Client(
            on: SQLiteRowStorage(at: StorageUnderTest.newFile(), listSteps: Self.steps))
        let inserted = try client.send(
            "POST", "/tables/todos", #"{"id":"a","text":"\#(Self.long)"}"#)
        #expect(inserted.status == 201)
        for _ in 0..<3 {
            let refused = try client.send("GET", Self.heavy)
            #expect(refused.status == 400)
            #expect(refused.text.contains(TooMuchWork().description), "\(refused.text)")
            #expect(try client.send("GET", "/tables/todos?$top=1").ids == ["a"])
            #expect(try client.send("GET", "/tables/todos/a").status == 200)
        }
    }

    @Test func `a user's list takes no work for another user's rows`() throws {
        var options = BackendOptions(flavour: .mobileApps)
        options.tokens = .verified
        options.tables[try #require(TableName("todos"))] = TableOptions(ownerColumn: "owner")
        let client = try Client(
            on: SQLiteRowStorage(at: nil, listSteps: Self.steps), options)
        client.backend.access = try SiteUnderTest.access()
        let users = try ["ana", "bob"].map { user in
            ["X-ZUMO-AUTH": try SiteUnderTest.token(.own, ["sub": .string(user)])]
        }
        let inserted = try client.send(
            "POST", "/tables/todos", #"{"id":"a","text":"\#(Self.long)"}"#, users[0])
        #expect(inserted.status == 201, "\(inserted.text)")
        #expect(try client.send("GET", Self.heavy, nil, users[0]).status == 400)
        let other = try client.send("GET", "\(Self.heavy)&$inlinecount=allpages", nil, users[1])
        #expect(other.status == 200 && other.json["count"]?.integer == 0, "\(other.text)")
    }

    @Test func `a file is read while a write is under way`() throws {
        let table = try TableUnderTest(
            StorageUnderTest(testDescription: "SQLite in a file") {
                try SQLiteRowStorage(at: StorageUnderTest.newFile())
            })
        let row = try table.insert("a")
        let storage = try #require(table.storage as? SQLiteRowStorage)
        let query = try table.query()
        let seen = try storage.write(to: table.name) { _ -> [Row]? in
            let found = try storage.get("a", in: table.name).map { [$0] } ?? []
            return try found + storage.list(query).rows
        }
        #expect(seen == [row, row])
    }
}
