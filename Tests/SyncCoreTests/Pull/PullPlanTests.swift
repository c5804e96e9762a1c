import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

@Suite struct PullPlanTests {
    private func plan(
        _ paging: Paging = .keyset, filter: String = "", token: String? = nil, rows: Int = 3
    ) throws -> PullPlan {
        PullPlan(
            idKind: .string, paging: paging, wanted: try PullQuery(parsing: filter),
            size: RequestedRows(most: rows),
            start: PullToken(rowID: 1, updatedAt: token, isComplete: true).start)
    }

    /// The filter as sent to a backend.
    private func filter(
        _ plan: PullPlan, _ generation: Generation = .mobileApps
    ) throws -> String? {
        try plan.next().query.filter?.text(dialect: Dialect(generation), names: generation)
    }

    /// A page. A row whose id is invalid for an item becomes unusable.
    private func page(_ rows: [(String, String?)], hasNext: Bool = false, total: Int? = nil)
        -> RemotePage
    {
        RemotePage(
            elements: rows.map { id, time in
                let time = time.map { #","updatedAt":"\#($0)""# } ?? ""
                let text = #"{"id":"\#(id)"\#(time),"version":"v"}"#
                return ListElement(Array(text.utf8)[...], generation: .mobileApps)
            }, hasNext: hasNext, total: total)
    }

    private func time(_ second: Int) -> String { "2020-01-01T00:00:0\(second).1234567Z" }

    @Test func `a first pull has no condition and is ordered by time and id`() throws {
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

    @Test func `the next page begins after the last row, with its raw text`() throws {
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

    @Test func `an empty page is the end, but not a short page or a count`() throws {
        var plan = try plan(rows: 50)
        plan.take(page([("a", time(1))]))
        #expect(!plan.isAtEnd)
        plan.take(page([]))
        #expect(plan.isAtEnd)
        var counted = try self.plan(rows: 50)
        counted.take(page([("a", time(1))], total: 3))
        #expect(!counted.isAtEnd)
        // A count may be that of the page, and rows may come twice.
        counted.take(page([("b", time(2)), ("c", time(3))], total: 3))
        #expect(!counted.isAtEnd)
        counted.take(page([]))
        #expect(counted.isAtEnd)
        var linked = try self.plan(rows: 50)
        linked.take(page([("a", time(1))], hasNext: true, total: 1))
        #expect(!linked.isAtEnd)
        var other = try self.plan(rows: 2)
        other.take(page([("a", time(1)), ("b", time(2))]))
        #expect(!other.isAtEnd)
        other.take(page([]))
        #expect(other.isAtEnd)
    }

    @Test func `a page without a new row switches to skipping inside ties`() throws {
        var plan = try plan()
        let rows = [("a", Optional(time(1))), ("b", time(1)), ("c", time(1))]
        plan.take(page(rows))
        plan.take(page(rows))
        #expect(plan.paging == .skipInTies)
        #expect(try filter(plan) == "updatedAt ge datetimeoffset'\(time(1))'")
        #expect(plan.next().query.skip == 2)
        plan.take(page([("c", time(1)), ("d", time(1)), ("e", time(2)), ("f", time(2))]))
        #expect(try filter(plan) == "updatedAt ge datetimeoffset'\(time(2))'")
        #expect(plan.next().query.skip == 1)
        plan.take(page([("f", time(2))]))
        #expect(plan.next().query.skip == 2)
        plan.take(page([]))
        #expect(plan.isAtEnd)
    }

    @Test func `a page by skip that does not begin with the last row is not used`() throws {
        var plan = try plan(.skipInTies)
        plan.take(page([("a", time(1)), ("b", time(2)), ("c", time(2))]))
        #expect(plan.next().query.skip == 1)
        // The last row moved behind the others, and another row took its place.
        #expect(plan.take(page([("d", time(3)), ("c", time(4))])).isEmpty)
        #expect(!plan.isAtEnd)
        #expect(try filter(plan) == "updatedAt ge datetimeoffset'\(time(2))'")
        #expect(plan.next().query.skip == 0)
        let rows = plan.take(page([("b", time(2)), ("d", time(3)), ("c", time(4))]))
        #expect(rows.map(\.idText) == ["b", "d", "c"])
    }

    @Test func `a full pull goes back twice as far each time until it meets a known row`()
        throws
    {
        var plan = try plan(.full)
        plan.take(page([("a", nil), ("b", nil), ("c", nil)]))
        plan.take(page([("c", nil), ("d", nil), ("e", nil)]))
        #expect(plan.next().query.skip == 4)
        // Two rows before it were deleted hard.
        #expect(plan.take(page([("g", nil), ("h", nil)])).isEmpty)
        #expect(plan.next().query.skip == 3)
        #expect(plan.take(page([("f", nil), ("g", nil), ("h", nil)])).isEmpty)
        #expect(plan.next().query.skip == 1)
        let rows = plan.take(page([("d", nil), ("e", nil), ("f", nil)]))
        #expect(rows.map(\.idText) == ["e", "f"])
    }

    @Test func `a pull with an unstable order ends, and rows may be missing`() throws {
        var plan = try plan(.full)
        var asked = 0
        while !plan.isAtEnd, asked < 500 {
            asked += 1
            let skip = plan.next().query.skip
            // The known rows come first if nothing is skipped, else last.
            let known = Set(plan.ids.map(\.text))
            let all = (100..<130).map(String.init)
            let order =
                all.filter { known.contains($0) == (skip == 0) }
                + all.filter { known.contains($0) != (skip == 0) }
            plan.take(page(order.dropFirst(skip).prefix(3).map { ($0, time(1)) }))
        }
        #expect(plan.isAtEnd)
        #expect(plan.isUnsure)
        #expect(plan.warning?.contains("another order") == true)
    }

    @Test func `a page of one row continues after it`() throws {
        var plan = try plan(.full)
        plan.take(page([("a", nil)], hasNext: true))
        #expect(plan.next().query.skip == 0)
        plan.take(page([("a", nil)], hasNext: true))
        #expect(plan.next().query.skip == 1)
        plan.take(page([("b", nil)], hasNext: true))
        #expect(plan.next().query.skip == 1)
        plan.take(page([("b", nil)]))
        #expect(plan.next().query.skip == 2)
        plan.take(page([]))
        #expect(plan.isAtEnd)
    }

    @Test func `a page that comes for every request is the whole table`() throws {
        var plan = try plan()
        let all = page((0..<60).map { ("\($0 + 100)", time($0 / 10)) })
        var asked = 0
        while !plan.isAtEnd, asked < 9 {
            plan.take(all)
            asked += 1
        }
        #expect(asked == 4)
        #expect(plan.paging == .full)
        #expect(plan.warning?.contains("whatever is asked") == true)
        #expect(plan.ids.count == 60)
    }

    @Test func `a page that comes for every request and names a next one never ends`() throws {
        var plan = try plan()
        let all = page([("a", time(1)), ("b", time(2))], hasNext: true)
        for _ in 0..<4 { plan.take(all) }
        #expect(plan.isRepeating)
        #expect(!plan.isAtEnd)
    }

    @Test func `a table with rows without a time is pulled completely`() throws {
        var plan = try plan(token: "2020-01-01T00:00:30Z")
        plan.take(page([("a", nil), ("b", nil), ("c", nil)]))
        #expect(plan.paging == .full)
        #expect(plan.hasUntimedRows)
        #expect(plan.next().query.filter == nil)
        #expect(plan.next().query.orderBy == [Ordering(.column(.id))])
        #expect(plan.next().query.skip == 0)
        #expect(!plan.isAtEnd)
    }

    @Test(arguments: [Paging.keyset, .skipInTies])
    func `a page whose times go back is no page of a cursor`(_ paging: Paging) throws {
        var plan = try plan(paging)
        #expect(plan.take(page([("a", time(1)), ("b", time(3))])).count == 2)
        for _ in 0..<2 {
            #expect(plan.paging == paging)
            #expect(plan.take(page([("b", time(3)), ("c", time(2))])).isEmpty)
        }
        #expect(plan.paging == .full && !plan.isAtEnd)
        let text = try plan.next().text(for: .mobileApps)
        #expect(text == "$orderby=id&$top=3&__includeDeleted=true")
        #expect(plan.take(page([("a", time(1)), ("c", time(2)), ("b", time(3))])).count == 3)
        #expect(plan.take(page([("b", time(3))])).isEmpty)
        plan.take(page([]))
        #expect(plan.isAtEnd && plan.isUnsure)
        #expect(plan.warning?.contains("does not sort") == true)
    }

    /// A row may change while the backend reads the page.
    @Test(arguments: [Paging.keyset, .skipInTies])
    func `a page whose times go back once is requested again`(_ paging: Paging) throws {
        var plan = try plan(paging)
        plan.take(page([("a", time(1)), ("b", time(3)), ("c", time(3))]))
        for (last, second, new) in [("c", 3, ["d", "e"]), ("e", 4, ["f", "g"])] {
            let next = plan.next()
            #expect(plan.take(page([(last, time(second)), (new[0], time(2))])).isEmpty)
            #expect(plan.next() == next && !plan.isAtEnd)
            let again = plan.take(
                page([
                    (last, time(second)), (new[0], time(second + 1)), (new[1], time(second + 1)),
                ]))
            #expect(again.compactMap(\.idText).suffix(2) == new[...])
        }
        #expect(plan.paging == paging && !plan.isUnsorted && !plan.isUnsure)
        #expect(plan.warning == nil && plan.received.cut == nil)
    }

    @Test func `a table without times stays unsorted`() throws {
        var plan = PullPlan(
            idKind: .string, paging: .full, wanted: PullQuery(), size: RequestedRows(most: 3),
            start: nil,
            isUnsorted: true)
        plan.take(page([("a", nil), ("b", nil)]))
        plan.take(page([("b", nil)]))
        plan.take(page([]))
        #expect(plan.isAtEnd && plan.isUnsorted && plan.isUnsure)
        #expect(plan.warning?.contains("have no updatedAt") == true)
    }

    @Test(arguments: [Paging.keyset, .skipInTies, .full], UInt64(0)..<200)
    func `no unchanged row is missed while others change or are deleted`(
        _ paging: Paging, seed: UInt64
    )
        throws
    {
        // Each page is cut from the present table. A changed row moves behind all others, and some rows are
        // deleted hard.
        let random = SeededRandom(seed)
        // Some have an id that is invalid for an item. They are received and do not stop the pull.
        let begun = (0..<40).map {
            (
                id: random.happens(0.2) ? "r/\($0 + 100)" : "r\($0 + 100)",
                time: Int(random.next(below: 8))
            )
        }
        let changing = begun.map(\.id).filter { _ in random.happens(0.5) }
        var table = begun
        var plan = try plan(paging, rows: 4)
        var received: Set<String> = []
        var clock = 8
        while !plan.isAtEnd {
            let rows = cut(table, paging, plan.cursor).dropFirst(plan.next().query.skip)
            let taken = plan.take(page(rows.prefix(4).map { ($0.id, stamp($0.time)) }))
            received.formUnion(taken.compactMap(\.idText))
            for _ in 0..<random.next(below: 3) where clock < 60 && !changing.isEmpty {
                clock += 1
                let id = random.pick(changing)
                let goes = random.happens(0.5)
                let isThere = table.contains { $0.id == id }
                table.removeAll { $0.id == id }
                if isThere, !goes { table.append((id, clock)) }
            }
        }
        let missed = Set(begun.map(\.id)).subtracting(changing).subtracting(received)
        #expect(missed.isEmpty, "seed \(seed)")
    }

    @Test func `unusable rows do not stop a pull`() throws {
        // A page with only unusable rows, then one that ends with them.
        var plan = try plan()
        plan.take(page([("a", time(1)), ("a/b", time(2)), ("", time(3))]))
        #expect(plan.cursor == PullPlan.Cursor(updatedAt: time(3), id: ""))
        plan.take(page([("x/1", time(4)), ("x/2", time(4)), ("x/3", time(4))]))
        #expect(plan.cursor == PullPlan.Cursor(updatedAt: time(4), id: "x/3"))
        #expect(plan.paging == .keyset)
        plan.take(page([("b", time(5)), ("..", time(5))]))
        plan.take(page([]))
        #expect(plan.isAtEnd && !plan.hasUntimedRows)
    }

    @Test func `an unusable row without a time gets the time of the row before it`() throws {
        var plan = try plan(rows: 2)
        var page = page([("a", time(1))])
        page.elements.append(
            ListElement(
                Array(#"{"id":"b","x":1,"x":2}"#.utf8)[...], generation: .mobileApps))
        plan.take(page)
        #expect(plan.cursor == PullPlan.Cursor(updatedAt: time(1), id: "b"))
        #expect(plan.paging == .keyset && !plan.isAtEnd)
    }

    private func stamp(_ minute: Int) -> String {
        "2020-01-01T00:\(minute < 10 ? "0" : "")\(minute):00.1234567Z"
    }

    /// The rows that a page is cut from, in its order.
    private func cut(
        _ table: [(id: String, time: Int)], _ paging: Paging, _ cursor: PullPlan.Cursor?
    ) -> [(id: String, time: Int)] {
        guard paging != .full else { return table.sorted { $0.id < $1.id } }
        return table.sorted { ($0.time, $0.id) < ($1.time, $1.id) }.filter { row in
            guard let cursor else { return true }
            return paging == .keyset
                ? (stamp(row.time), row.id) > (cursor.updatedAt, cursor.id)
                : stamp(row.time) >= cursor.updatedAt
        }
    }
}
