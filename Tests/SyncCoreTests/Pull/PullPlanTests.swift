import TablesProtocol
import Testing

@testable import SyncCore

@Suite struct PullPlanTests {
    private func plan(
        _ paging: Paging = .keyset, filter: String = "", token: String? = nil, rows: Int = 3
    ) throws -> PullPlan {
        PullPlan(
            idKind: .string, paging: paging, wanted: try PullQuery(parsing: filter), pageRows: rows,
            token: token)
    }

    /// The filter as a backend gets it.
    private func filter(
        _ plan: PullPlan, _ generation: Generation = .mobileApps
    ) throws -> String? {
        try plan.next().query.filter?.text(dialect: Dialect(generation), names: generation)
    }

    private func page(_ rows: [(String, String?)], hasNext: Bool = false) -> RemotePage {
        RemotePage(
            rows: rows.compactMap { id, time in
                (try? ItemID(id)).map {
                    RemoteRow(id: $0, columns: Columns(), updatedAt: time, version: "v")
                }
            }, hasNext: hasNext)
    }

    private func time(_ second: Int) -> String { "2020-01-01T00:00:0\(second).1234567Z" }

    @Test func `a first pull has no condition and orders by time and id`() throws {
        let text = try plan().next().text(for: .mobileApps)
        #expect(text == "$orderby=updatedAt,id&$top=3&__includeDeleted=true")
    }

    @Test func `a pull begins ten seconds before its token`() throws {
        let plan = try plan(filter: "a eq 1 or b eq 2", token: "2020-01-01T00:00:30.0000001Z")
        #expect(
            try filter(plan)
                == "((a eq 1) or (b eq 2)) and (updatedAt ge datetimeoffset'2020-01-01T00:00:20.000Z')"
        )
    }

    @Test func `the next page goes on behind the last row in its raw text`() throws {
        var plan = try plan()
        plan.take(page([("a", time(1)), ("b", time(2)), ("o'c", time(2))]))
        let raw = time(2)
        #expect(
            try filter(plan)
                == "(updatedAt gt datetimeoffset'\(raw)') or ((updatedAt eq datetimeoffset'\(raw)') and (id gt 'o''c'))"
        )
        #expect(plan.next().query.skip == 0)
    }

    @Test func `each generation has its own names and literals`() throws {
        let text = "substringof('x',name) and createdAt gt datetime'2020-01-01T00:00:00Z'"
        var plan = try plan(filter: text)
        plan.take(page([("a", time(1))], hasNext: true))
        let first = try #require(try filter(plan, .mobileServices))
        #expect(first.contains("__updatedAt gt datetimeoffset'"))
        #expect(first.contains("__createdAt gt datetime'"))
        #expect(throws: ODataError.self) { try filter(plan, .datasync) }
        var third = try self.plan(filter: "substringof('x',name)")
        third.take(page([("a", time(1))], hasNext: true))
        let sent = try #require(try filter(third, .datasync))
        #expect(sent.contains("contains(name,'x')"))
        #expect(sent.contains("updatedAt gt cast(\(time(1)),Edm.DateTimeOffset)"))
    }

    @Test func `an empty page is the end, a short one only without a next link`() throws {
        var plan = try plan(rows: 50)
        plan.take(page([("a", time(1))], hasNext: true))
        #expect(!plan.isAtEnd)
        plan.take(page([("b", time(2))]))
        #expect(plan.isAtEnd)
        var other = try self.plan(rows: 2)
        other.take(page([("a", time(1)), ("b", time(2))]))
        #expect(!other.isAtEnd)
        other.take(page([]))
        #expect(other.isAtEnd)
    }

    @Test func `a page cut below what was asked for is not the end`() throws {
        var plan = try plan(rows: 1000)
        plan.take(page((0..<50).map { ("\($0)", time(1)) }))
        #expect(!plan.isAtEnd)
    }

    @Test func `a page that brings nothing new goes over to skipping inside ties`() throws {
        var plan = try plan()
        let rows = [("a", Optional(time(1))), ("b", time(1)), ("c", time(1))]
        plan.take(page(rows))
        plan.take(page(rows))
        #expect(plan.paging == .skipInTies)
        #expect(try filter(plan) == "updatedAt ge datetimeoffset'\(time(1))'")
        #expect(plan.next().query.skip == 3)
        plan.take(page([("d", time(1)), ("e", time(2)), ("f", time(2))]))
        #expect(try filter(plan) == "updatedAt ge datetimeoffset'\(time(2))'")
        #expect(plan.next().query.skip == 2)
        plan.take(page([]))
        #expect(plan.isAtEnd)
    }

    @Test func `rows without a time are pulled as a whole`() throws {
        var plan = try plan(token: "2020-01-01T00:00:30Z")
        plan.take(page([("a", nil), ("b", nil), ("c", nil)]))
        #expect(plan.paging == .full)
        #expect(plan.hasUntimedRows)
        #expect(plan.next().query.filter == nil)
        #expect(plan.next().query.orderBy == [Ordering(.column(.id))])
        #expect(plan.next().query.skip == 0)
        #expect(!plan.isAtEnd)
    }

    @Test func `the same changes under a moving table are all seen`() throws {
        // Rows that change while they are pulled move behind the cursor; pages are cut from the
        // table as it is at that moment.
        var table = (0..<9).map { ("r\($0)", $0 / 3) }
        var plan = try plan()
        var seen: Set<String> = []
        var clock = 5
        while !plan.isAtEnd {
            let cursor = plan.cursor
            let rows = table.sorted { ($0.1, $0.0) < ($1.1, $1.0) }.filter { row in
                guard let cursor else { return true }
                return (time(row.1), row.0) > (cursor.updatedAt, cursor.id.text)
            }.prefix(3)
            plan.take(page(rows.map { ($0.0, time($0.1)) }))
            seen.formUnion(rows.map(\.0))
            if clock < 8 {
                table[clock - 5].1 = clock
                clock += 1
            }
        }
        #expect(seen.count == 9)
    }
}
