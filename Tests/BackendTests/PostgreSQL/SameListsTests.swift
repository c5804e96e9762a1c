import Foundation
import TablesProtocol
import TestSupport
import Testing

@testable import Backend
@testable import Site

/// Random queries over random rows give the same on PostgreSQL and on SQLite.
@Suite struct SameListsTests {
    /// How many queries; more in `make soak`.
    private static let count =
        ProcessInfo.processInfo.environment["SAME_LISTS"].flatMap { Int($0) } ?? 2000
    private static let seed =
        ProcessInfo.processInfo.environment["SAME_LISTS_SEED"].flatMap { UInt64($0) }
        ?? UInt64.random(in: 0...999_999)
    private static let queriesOfTable = 250
    private static let rowsOfTable = 60

    @Test(.timeLimit(.minutes(30)))
    func `a query gives the same rows, order and count on both storages`() throws {
        let sqlite = try SQLiteRowStorage()
        let postgreSQL = try PostgreSQLRowStorage(
            at: "\(PostgreSQLServer.url())&options=-c%20enable_seqscan%3Doff",
            schema: PostgreSQLServer.newSchema())
        print("SAME_LISTS_SEED=\(Self.seed) SAME_LISTS=\(Self.count)")
        var random = RandomQuery(seed: Self.seed)
        var judged = 0
        var nonempty = 0
        for number in 0..<Self.count {
            let place = number / Self.queriesOfTable
            let name = try #require(TableName("t\(place)"))
            if number.isMultiple(of: Self.queriesOfTable) {
                try fill(name, [sqlite, postgreSQL], &random)
                if place.isMultiple(of: 2) { try index(name, postgreSQL) }
            }
            let query = random.query(name)
            let expected = try sqlite.list(query)
            let found = try postgreSQL.list(query)
            judged += PostgreSQLCompiler.judges(query) ? 1 : 0
            nonempty += expected.rows.isEmpty ? 0 : 1
            if found == expected { continue }
            Issue.record(
                """
                seed \(Self.seed), query \(number): \(query)
                SQLite \(expected.rows.map(\.id)) \(expected.count ?? -1)
                PostgreSQL \(found.rows.map(\.id)) \(found.count ?? -1)
                rows \(try sqlite.rows(in: name).map { "\($0.id) \($0.columns.text)" })
                """)
            return
        }
        print("PostgreSQL alone judged \(judged) of \(Self.count); \(nonempty) had rows")
        #expect(judged * 2 > Self.count && nonempty * 3 > Self.count)
    }

    private func index(_ name: TableName, _ storage: PostgreSQLRowStorage) throws {
        for column in ["text", "text desc", "n", "m desc", "at desc", "done"] {
            #expect(try storage.addIndex(#require(WantedIndex("\(name):\(column)"))))
        }
    }

    private func fill(
        _ name: TableName, _ storages: [any RowStorage], _ random: inout RandomQuery
    ) throws {
        let columns: [TableOptions.Column] = [
            .init("text", .string), .init("n", .number), .init("m", .number), .init("at", .string),
            .init("done", .boolean),
        ]
        for storage in storages { try storage.declare(name, TableOptions(columns: columns)) }
        for number in 0..<Self.rowsOfTable {
            let row = NewRow(
                id: "\(number.isMultiple(of: 2) ? "r" : "R")\(number)",
                columns: try Columns(parsing: random.row()), deleted: number.isMultiple(of: 7),
                version: "v\(number)")
            let write = Write(
                at: TableUnderTest.moment(Int64(number)),
                stamps: number.isMultiple(of: 3) ? .ties(everyMilliseconds: 5) : .subMillisecond,
                method: "POST")
            for storage in storages {
                _ = try storage.insert(row, into: name, creating: TableOptions(), write)
            }
        }
    }
}

extension PostgreSQLCompiler {
    /// Whether PostgreSQL alone answers a query.
    fileprivate static func judges(_ query: RowQuery) -> Bool {
        let compiler = PostgreSQLCompiler(nulls: query.nulls)
        return query.filter?.condition.map { compiler.filter($0) != nil } ?? true
            && compiler.ordering(query.orderBy) != nil
    }
}
