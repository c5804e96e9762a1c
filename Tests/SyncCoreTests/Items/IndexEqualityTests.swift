import GRDB
import TestSupport
import Testing

@testable import SyncCore
@testable import TablesProtocol

/// Lists have the same result with an index and without.
@Suite struct IndexEqualityTests {
    /// Values of every JSON type, including equal ones, and texts that SQLite's functions cut.
    static let values = [
        "null", "true", "false", "0", "1", "1.0", "-1", "5", "5.5", "9007199254740993",
        "9007199254740992.0", "1e300", "0.1", "123456789012345678901234567890", #""""#, #""a""#,
        #""A""#, #""a\u0000b""#, #""a ""#, #""true""#, #""1""#, #""2024-01-01T00:00:00Z""#, "[1]",
        #""2024-01-01T00:00:00.5Z""#, #""2023-12-31T23:00:00-02:00""#, #""/Date(1704067200001)/""#,
        #""2024""#,
        #"{"b":1}"#,
    ]
    static let constants = [
        "null", "true", "false", "0", "1", "1.0", "5", "5.5", "9007199254740993", "0.1", "1e300",
        "''", "'a'", "'A'", "'a '", "'true'", "'1'", "'2024-01-01T00:00:00Z'",
        "'2024-01-01T00:00:00.4Z'", "'/D'", "datetimeoffset'2024-01-01T00:00:00Z'",
        "guid'00000000-0000-0000-0000-000000000000'",
    ]

    @Test(arguments: UInt64(1)...12)
    func `a list is the same with an index and without`(seed: UInt64) async throws {
        var random = SeededRandom(seed)
        let fixture = try StoreFixture(seed: seed)
        let names = ["x", "y", "z"]
        var rows: [RemoteRow] = []
        for place in 0..<160 {
            let members = names.compactMap { name in
                Int.random(in: 0..<6, using: &random) == 0
                    ? nil : "\"\(name)\":\(Self.values.randomElement(using: &random) ?? "1")"
            }
            rows.append(
                try fixture.remote(
                    "i\(Int.random(in: 0..<1_000, using: &random))-\(place)",
                    "{\(members.joined(separator: ","))}", version: "v\(place)",
                    deleted: Int.random(in: 0..<8, using: &random) == 0))
        }
        let (todo, pulled) = (fixture.todo, rows)
        try await fixture.store.write { transaction in
            var table = try transaction.tables.make(todo)
            for row in pulled {
                _ = try PulledRows(transaction: transaction).apply(row, to: table, asOf: .max)
            }
            table.isComplete = true
            try transaction.tables.save(table)
        }
        var used = 0
        for _ in 0..<40 {
            let text = Self.query(names, random)
            let query = try TableQuery(odata: text)
            let answer = try await fixture.answers(query)
            guard let index = fixture.index(for: query) else { continue }
            try await fixture.index([index])
            #expect(try await fixture.usesIndex(query), "seed \(seed): \(text)")
            #expect(try await fixture.answers(query) == answer, "seed \(seed): \(text)")
            used += 1
            // A write is in the index at once.
            if let row = rows.randomElement(using: &random), row.deleted != true {
                let value = Self.values.randomElement(using: &random) ?? "1"
                try await fixture.update(row.id.text, #"{"x":\#(value)}"#)
            }
            let changed = try await fixture.answers(query)
            try await fixture.index([])
            #expect(try await fixture.answers(query) == changed, "seed \(seed): \(text)")
        }
        #expect(used > 15, "seed \(seed)")
        #expect(try await fixture.store.health.check().isEmpty)
    }

    private static func query(_ names: [String], _ source: SeededRandom) -> String {
        var random = source
        func pick(_ all: [String]) -> String { all.randomElement(using: &random) ?? "" }
        var conditions: [String] = []
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            conditions.append("\(pick(names)) eq \(pick(constants))")
        }
        var order: [String] = []
        if Bool.random(using: &random) {
            let column = pick(names + ["updatedAt", "createdAt"])
            order.append(column + pick(["", " desc"]))
            if Bool.random(using: &random), names.contains(column) {
                conditions.append(
                    "\(column) \(pick(["gt", "ge", "lt", "le", "ne"])) \(pick(constants))")
            }
            if Bool.random(using: &random) { order.append(pick(names) + pick(["", " desc"])) }
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            conditions.append(pick(["x ne null", "not (y eq 1)", "length(z) gt 0", "z in (1,5)"]))
        }
        var text = "$top=\(Int.random(in: 0...20, using: &random))"
        if !conditions.isEmpty { text += "&$filter=" + conditions.joined(separator: " and ") }
        if !order.isEmpty { text += "&$orderby=" + order.joined(separator: ",") }
        if Int.random(in: 0..<4, using: &random) == 0 { text += "&$skip=3" }
        if Int.random(in: 0..<3, using: &random) == 0 { text += "&$inlinecount=allpages" }
        if Int.random(in: 0..<4, using: &random) == 0 { text += "&__includeDeleted=true" }
        return text
    }
}

extension StoreFixture {
    /// The ids of the page, and the count.
    fileprivate func answers(_ query: TableQuery) async throws -> [String] {
        guard case .page(let page) = listUnhurried(query) else {
            throw TableIndexTests.Unexpected()
        }
        return page.items.map(\.id.text) + ["\(page.count ?? -1) \(page.hasMore)"]
    }

    /// The index that serves a list; nil where none does.
    fileprivate func index(for query: TableQuery) -> String? {
        guard let list = query.indexedList(spelling: { $0 }) else { return nil }
        let held = list.held.keys.map { Ordering(.column($0)) }
            .sorted { "\($0)" < "\($1)" }
        let terms = (held + list.order).compactMap { term -> String? in
            guard case .column(let column) = term.expression else { return nil }
            return column.name(in: .mobileApps).map { $0 + (term.descending ? " desc" : "") }
        }
        return IndexShape(terms.joined(separator: ","))?.text
    }

    fileprivate func usesIndex(_ query: TableQuery) async throws -> Bool {
        let todo = todo
        return try await store.read { transaction in
            let table = try #require(try transaction.tables.table(todo))
            return ItemQuery.indexedConstants(of: query, table) != nil
        }
    }
}
