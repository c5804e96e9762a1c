import TablesProtocol
import Testing

@testable import SyncCore

@Suite struct PullPlanTests {
    private func plan(
        _ paging: Paging = .keyset, filter: String? = nil, token: String? = nil,
        generation: Generation = .mobileApps, rows: Int = 3
    ) -> PullPlan {
        PullPlan(
            generation: generation, idKind: .string, paging: paging, filter: filter, pageRows: rows,
            token: token)
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

    @Test func `a first pull has no condition and orders by time and id`() {
        let query = plan().next()
        #expect(query.filter == nil)
        #expect(query.orderBy == "updatedAt,id")
        #expect(query.includeDeleted)
    }

    @Test func `a pull begins ten seconds before its token`() {
        let query = plan(filter: "a eq 1 or b eq 2", token: "2020-01-01T00:00:30.0000001Z").next()
        #expect(
            query.filter
                == "(a eq 1 or b eq 2) and (updatedAt ge datetimeoffset'2020-01-01T00:00:20.000Z')")
    }

    @Test func `the next page goes on behind the last row in its raw text`() {
        var plan = plan()
        plan.take(page([("a", time(1)), ("b", time(2)), ("o'c", time(2))]))
        let raw = time(2)
        #expect(
            plan.next().filter
                == "updatedAt gt datetimeoffset'\(raw)' or (updatedAt eq datetimeoffset'\(raw)' and id gt 'o''c')"
        )
        #expect(plan.next().skip == 0)
    }

    @Test func `each generation has its own names and literals`() {
        var first = plan(generation: .mobileServices)
        var third = plan(generation: .datasync)
        first.take(page([("a", time(1))], hasNext: true))
        third.take(page([("a", time(1))], hasNext: true))
        #expect(first.next().filter?.contains("__updatedAt gt datetimeoffset'") == true)
        #expect(
            third.next().filter?.contains("updatedAt gt cast(\(time(1)),Edm.DateTimeOffset)")
                == true)
    }

    @Test func `an empty page is the end, a short one only without a next link`() {
        var plan = plan(rows: 50)
        plan.take(page([("a", time(1))], hasNext: true))
        #expect(!plan.isAtEnd)
        plan.take(page([("b", time(2))]))
        #expect(plan.isAtEnd)
        var other = self.plan(rows: 2)
        other.take(page([("a", time(1)), ("b", time(2))]))
        #expect(!other.isAtEnd)
        other.take(page([]))
        #expect(other.isAtEnd)
    }

    @Test func `a page cut below what was asked for is not the end`() {
        var plan = plan(rows: 1000)
        plan.take(page((0..<50).map { ("\($0)", time(1)) }))
        #expect(!plan.isAtEnd)
    }

    @Test func `a page that brings nothing new goes over to skipping inside ties`() {
        var plan = plan()
        let rows = [("a", Optional(time(1))), ("b", time(1)), ("c", time(1))]
        plan.take(page(rows))
        plan.take(page(rows))
        #expect(plan.paging == .skipInTies)
        #expect(plan.next().filter == "updatedAt ge datetimeoffset'\(time(1))'")
        #expect(plan.next().skip == 3)
        plan.take(page([("d", time(1)), ("e", time(2)), ("f", time(2))]))
        #expect(plan.next().filter == "updatedAt ge datetimeoffset'\(time(2))'")
        #expect(plan.next().skip == 2)
        plan.take(page([]))
        #expect(plan.isAtEnd)
    }

    @Test func `rows without a time are pulled as a whole`() {
        var plan = plan(token: "2020-01-01T00:00:30Z")
        plan.take(page([("a", nil), ("b", nil), ("c", nil)]))
        #expect(plan.paging == .full)
        #expect(plan.hasUntimedRows)
        #expect(plan.next().filter == nil)
        #expect(plan.next().orderBy == "id")
        #expect(plan.next().skip == 0)
        #expect(!plan.isAtEnd)
    }

    @Test func `the same changes under a moving table are all seen`() {
        // Rows that change while they are pulled move behind the cursor; pages are cut from the
        // table as it is at that moment.
        var table = (0..<9).map { ("r\($0)", $0 / 3) }
        var plan = plan()
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
