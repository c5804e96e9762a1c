import TablesProtocol
import Testing

@testable import Backend

/// What every storage gives for a list.
@Suite struct RowListTests {
    /// A table with rows in an order that is neither that of ids nor of texts.
    private func filled(_ kind: StorageUnderTest) throws -> TableUnderTest {
        let table = try TableUnderTest(kind)
        let rows = [
            ("d", #"{"text":"pear","n":3,"at":"2027-01-01T00:00:00.000Z"}"#),
            ("b", #"{"text":"Apple","n":12,"done":true}"#),
            ("a", #"{"text":"apple","n":1.5,"done":false}"#),
            ("c", #"{"text":null,"n":3}"#), ("e", #"{}"#),
        ]
        let columns: [TableOptions.Column] = [
            .init("text", .string), .init("n", .number), .init("done", .boolean),
        ]
        for (id, json) in rows { try table.insert(id, json, table.write(adding: columns)) }
        return table
    }

    /// A filter, and the ids that it leaves.
    static let filters: [(String, [String])] = [
        ("n eq 3", ["c", "d"]), ("n gt 2 and text ne 'pear'", ["b"]), ("done", ["b"]),
        ("not done", ["a"]), ("text eq null", ["c", "e"]), ("id ge 'd'", ["d", "e"]),
        ("startswith(tolower(text),'app')", ["a", "b"]), ("N lt 2", ["a"]),
        ("text gt 'Z' or n eq 12", ["a", "b", "d"]),
        ("at gt datetimeoffset'2026-12-31T00:00:00Z'", ["d"]),
        ("updatedAt le datetimeoffset'2027-01-15T08:00:00.001Z'", ["b", "d"]),
    ]

    @Test(arguments: StorageUnderTest.all, filters)
    func `a filter leaves the rows for which it holds`(
        kind: StorageUnderTest, filter: (String, [String])
    ) throws {
        let table = try filled(kind)
        #expect(try table.ids(filter.0) == filter.1)
        var query = try table.query(filter.0)
        (query.limit, query.counts) = (0, true)
        #expect(try table.storage.list(query) == RowList(rows: [], count: filter.1.count))
    }

    /// The terms of an order, and the ids in it.
    static let orders: [(String?, [String])] = [
        (nil, ["a", "b", "c", "d", "e"]), ("id desc", ["e", "d", "c", "b", "a"]),
        ("n", ["e", "a", "c", "d", "b"]), ("n desc,id desc", ["b", "d", "c", "a", "e"]),
        ("text", ["c", "e", "b", "a", "d"]), ("updatedAt desc", ["e", "c", "a", "b", "d"]),
    ]

    @Test(arguments: StorageUnderTest.all, orders)
    func `an order is total: the id is its last term`(
        kind: StorageUnderTest, order: (String?, [String])
    ) throws {
        #expect(try filled(kind).ids(by: order.0) == order.1)
    }

    @Test(arguments: StorageUnderTest.all)
    func `without terms rows may come as they were inserted`(kind: StorageUnderTest) throws {
        let table = try filled(kind)
        var query = try table.query()
        query.lastOrder = .insertion
        let ids = { try table.storage.list(query).rows.map(\.id) }
        #expect(try ids() == ["d", "b", "a", "c", "e"])
        let row = try #require(try table.storage.get("d", in: table.name))
        try table.update(row, #"{"n":0}"#)
        #expect(try ids() == ["d", "b", "a", "c", "e"])
    }

    @Test(arguments: StorageUnderTest.all)
    func `pages join to the whole, and the count is of all`(kind: StorageUnderTest) throws {
        let table = try filled(kind)
        var query = try table.query(by: "n")
        query.counts = true
        query.limit = 2
        var ids: [String] = []
        for skip in stride(from: 0, through: 6, by: 2) {
            query.skip = skip
            let list = try table.storage.list(query)
            #expect(list.count == 5)
            #expect(list.rows.count == max(0, min(2, 5 - skip)))
            ids += list.rows.map(\.id)
        }
        #expect(ids == ["e", "a", "c", "d", "b"])
        query.counts = false
        #expect(try table.storage.list(query).count == nil)
    }

    @Test(arguments: StorageUnderTest.all)
    func `tombstones are listed and counted only where they are asked for`(
        kind: StorageUnderTest
    ) throws {
        let table = try filled(kind)
        let row = try #require(try table.storage.get("b", in: table.name))
        try #require(try table.mark([row], deleted: true, as: .delete) != nil)
        var query = try table.query()
        query.counts = true
        #expect(try table.storage.list(query).count == 4)
        query.includesDeleted = true
        let list = try table.storage.list(query)
        #expect(list.rows.map(\.id) == ["a", "b", "c", "d", "e"] && list.count == 5)
        #expect(try table.storage.rows(in: table.name) == list.rows)
    }

    @Test(arguments: StorageUnderTest.all)
    func `comparisons with null are as the query says`(kind: StorageUnderTest) throws {
        let table = try filled(kind)
        var query = try table.query("text ne 'pear'")
        #expect(try table.storage.list(query).rows.map(\.id) == ["a", "b"])
        query.nulls = .decided
        #expect(try table.storage.list(query).rows.map(\.id) == ["a", "b", "c", "e"])
    }

    @Test(arguments: StorageUnderTest.all)
    func `an exact query tells stamps within a millisecond apart`(kind: StorageUnderTest) throws {
        let table = try TableUnderTest(kind)
        for id in ["c", "b", "a"] { try table.insert(id, "{}", table.write(.subMillisecond)) }
        var query = try table.query(
            "updatedAt gt datetimeoffset'2027-01-15T08:00:00.0000001Z'", by: "updatedAt")
        query.isExact = true
        let rows = try table.storage.list(query).rows
        #expect(rows.map(\.id) == ["a"] && rows[0].columns.text == "{}")
    }

    @Test(arguments: StorageUnderTest.all)
    func `a table that is not there has no rows`(kind: StorageUnderTest) throws {
        let table = try TableUnderTest(kind)
        let other = try #require(TableName("other"))
        var query = RowQuery(table: other)
        #expect(try table.storage.list(query) == RowList())
        query.counts = true
        #expect(try table.storage.list(query) == RowList(rows: [], count: 0))
        #expect(try table.storage.rows(in: other) == [])
        #expect(try table.storage.get("a", in: other) == nil)
    }
}
