import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Where a pull begins, and what that costs.
@Suite struct SettledTokenTests {
    private let noon = Instant(iso: "2020-01-01T12:00:00.5Z") ?? .earliest

    private func at(_ second: Int64) -> Instant { noon.advanced(by: .seconds(second)) }

    private func token(
        _ updatedAt: String?, isComplete: Bool = true, isSettled: Bool = false,
        lookBack: Int64 = 0,
        seen: Instant? = nil
    ) -> PullToken {
        PullToken(
            rowID: 1, updatedAt: updatedAt, isComplete: isComplete, isSettled: isSettled,
            lookBack: lookBack, seenAt: seen)
    }

    /// The token after a pull that found no later row.
    private func idle(_ token: PullToken, began: Instant?, ended: Instant?) -> PullToken {
        var after = token
        after.complete(after: token, PullTimes(began: began, ended: ended))
        return after
    }

    @Test(arguments: [
        ("2020-01-01T12:00:00.1234567Z", "2020-01-01T12:00:00.124Z"),
        ("2020-01-01T12:00:00.123Z", "2020-01-01T12:00:00.124Z"),
        ("2020-01-01T12:00:00.999+00:00", "2020-01-01T12:00:01.000Z"),
        ("2020-01-01T12:00:00.12Z", "2020-01-01T12:00:00.130Z"),
        ("2020-01-01T12:00:00.1Z", "2020-01-01T12:00:00.200Z"),
        ("2020-01-01T12:00:59Z", "2020-01-01T12:01:00.000Z"),
        ("2020-01-01T14:00:59+02:00", "2020-01-01T12:01:00.000Z"),
    ])
    func `a pull behind a settled token begins after all that print as it`(
        _ text: String, _ start: String
    ) {
        #expect(token(text, isSettled: true).start?.text == start)
    }

    @Test func `any other pull begins before its token, and before the pull that brought it`() {
        let text = at(0).text
        #expect(token(nil).start == nil)
        #expect(token(text).start?.instant == at(-10))
        // The rows of a long pull may have been committed after their pages.
        #expect(token(text, lookBack: 100_000).start?.instant == at(-110))
    }

    @Test func `a token is settled when a later pull has read its rows again`() {
        let token = token(at(0).text, lookBack: 9, seen: at(5))
        #expect(!idle(token, began: at(64), ended: at(200)).isSettled)
        let settled = idle(token, began: at(65), ended: at(66))
        #expect(settled.lookBack == 0)
        #expect(settled.isSettled && settled.seenAt == at(5))
        #expect(idle(settled, began: at(70), ended: at(70)).isSettled)
        // Without a Date there is no proof, and what is proven stays.
        #expect(!idle(token, began: nil, ended: nil).isSettled)
        #expect(idle(settled, began: nil, ended: nil).isSettled)
    }

    @Test(arguments: [
        ("2020-01-01T12:00:00Z", Int64(3600)), ("2020-01-01T12:07:00.000Z", 60),
        ("2020-01-01T00:00:00Z", 86_400), ("2020-01-01T12:07:01Z", 0),
    ])
    func `a time that may be rounded down is waited for`(_ text: String, _ grain: Int64) throws {
        let seen = try #require(Instant(iso: text))
        let token = token(text, seen: seen)
        for (second, isSettled) in [(59 + grain, false), (60 + grain, true)] {
            let now = seen.advanced(by: .seconds(second))
            #expect(idle(token, began: now, ended: now).isSettled == isSettled)
        }
    }

    @Test func `a first pull settles a token that is old`() {
        for (age, isSettled) in [(Int64(899), false), (900, true)] {
            for earlier in [token(nil), token(at(-50).text, isComplete: false)] {
                var after = earlier
                after.updatedAt = at(0).text
                after.complete(after: earlier, PullTimes(began: at(age), ended: at(age)))
                #expect(after.isSettled == isSettled && after.isComplete)
                #expect(after.seenAt == at(age))
            }
        }
        // A later pull cannot tell an old row from one of a slow clock.
        let earlier = token(at(-50).text)
        var after = earlier
        after.updatedAt = at(0).text
        after.complete(after: earlier, PullTimes(began: at(9000), ended: at(9000)))
        #expect(!after.isSettled)
    }

    @Test func `a later row and a row that was left end it`() {
        var moved = token(at(0).text, isSettled: true, seen: at(100))
        let row = #"{"id":"a","updatedAt":"\#(at(200).text)","version":"v"}"#
        moved.advance(
            to: [ListElement(Array(row.utf8)[...], generation: .mobileApps)], begunAt: at(300),
            elapsed: .seconds(7))
        #expect(!moved.isSettled && moved.start?.text == "2020-01-01T12:03:03.499Z")
        var left = token(at(0).text, isSettled: true, seen: at(1))
        left.complete(
            after: left, PullTimes(began: at(300), ended: at(300), skipped: at(-30)))
        #expect(!left.isSettled && left.start?.text == "2020-01-01T11:59:20.499Z")
    }

    // MARK: A backend whose rows are committed late

    /// A table whose rows get their times before they can be seen, and the copy of it.
    private struct Late {
        struct Row: Equatable { var ticks: Int64, version: Int }
        let random: SeededRandom
        var rows: [String: Row] = [:]
        private var open: [(id: String, row: Row, commit: Int64)] = []
        /// The database's clock in ticks.
        var now: Int64 = 637_000_000_000_000_000
        /// How far the web server's clock is ahead, in seconds; nil for answers without a Date.
        let skew: Int64?
        /// The digits of a second that are printed.
        let digits: Int
        /// The granularity of times in ticks.
        let tick: Int64
        private var version = 0

        init(_ random: SeededRandom) {
            self.random = random
            skew = random.happens(0.1) ? nil : Int64(random.next(below: 91)) - 45
            digits = random.pick([7, 3, 0])
            tick = random.pick([1, 10_000, 20_000_000])
            for number in 0..<20 {
                rows["r\(100 + number)"] = Row(ticks: now - Int64(number / 9), version: 0)
            }
            now += Int64(random.next(below: 2)) * 20_000_000_000
        }

        var date: Instant? {
            skew.map { Instant(ticks: (now + $0 * 10_000_000) / 10_000_000 * 10_000_000) }
        }

        /// Lets time pass, with writes whose commits are up to nine seconds late.
        mutating func pass(seconds: Double, writes: Bool) {
            let end = now + Int64(seconds * 10_000_000)
            while writes, random.happens(0.5), now < end {
                now += Int64(random.next(below: 10_000_000))
                let id = "r\(100 + random.next(below: 25))"
                guard !open.contains(where: { $0.id == id }) else { continue }
                version += 1
                let most = 90_000_000 - UInt64(tick)
                let late = random.happens(0.5) ? 0 : Int64(random.next(below: most))
                open.append((id, Row(ticks: now / tick * tick, version: version), now + late))
            }
            now = max(now, end)
            for write in open where write.commit <= now { rows[write.id] = write.row }
            open.removeAll { $0.commit <= now }
        }

        func text(_ row: Row) -> String {
            let text = InstantLiteral(Instant(ticks: row.ticks)).text
            return digits == 0 ? "\(text.prefix(19))Z" : "\(text.prefix(20 + digits))Z"
        }

        func page(_ plan: PullPlan, rows limit: Int) -> RemotePage {
            let last = plan.cursor.map { (Instant(iso: $0.updatedAt)?.ticks ?? 0, $0.id) }
            let sorted = rows.filter { id, row in
                guard plan.paging != .full else { return true }
                guard let last else {
                    return plan.start.map { row.ticks >= $0.instant.ticks } ?? true
                }
                return plan.paging == .keyset
                    ? row.ticks > last.0 || row.ticks == last.0 && id > last.1 : row.ticks >= last.0
            }.sorted { left, right in
                plan.paging == .full
                    ? left.key < right.key
                    : (left.value.ticks, left.key) < (right.value.ticks, right.key)
            }
            let elements = sorted.dropFirst(plan.next().query.skip).prefix(limit).map { id, row in
                ListElement(
                    Array(
                        #"{"id":"\#(id)","updatedAt":"\#(text(row))","version":"\#(row.version)"}"#
                            .utf8)[...],
                    generation: .mobileApps)
            }
            return RemotePage(elements: Array(elements), hasNext: false, sentAt: date)
        }
    }

    private struct Copy {
        var token = PullToken(rowID: 1, isComplete: false)
        var paging: Paging
        var rows: [String: String] = [:]

        /// Pulls, with writes between the pages.
        /// - Returns: the number of requests.
        mutating func pull(_ late: inout Late, writes: Bool, isPlanted: Bool) -> Int {
            let earlier = token
            var plan = PullPlan(
                idKind: .string, paging: paging, wanted: PullQuery(),
                size: RequestedRows(most: 1000), start: token.start)
            let limit = late.random.pick([2, 3, 8, 1000])
            var (times, begunAt) = (PullTimes(), Instant?.none)
            let begun = late.now
            var requests = 0
            while !plan.isAtEnd, requests < 1000 {
                let page = late.page(plan, rows: requests > 100 ? 1000 : limit)
                requests += 1
                if requests == 1 { times.began = page.sentAt }
                times.ended = page.sentAt
                begunAt = begunAt ?? page.sentAt ?? Instant(ticks: late.now)
                let taken = plan.take(page)
                for row in taken.compactMap(\.row) { rows[row.id.text] = row.version }
                if plan.paging.isByTime, let begunAt {
                    token.advance(
                        to: taken, begunAt: begunAt,
                        elapsed: .microseconds((late.now - begun) / 10))
                }
                if writes, late.random.happens(0.02) { return requests }
                late.pass(
                    seconds: late.random.happens(0.1) ? 3 : 0.1, writes: writes && requests < 60)
            }
            paging = plan.paging
            token.complete(after: earlier, times)
            if isPlanted { token.isSettled = true }
            return requests
        }
    }

    /// Runs a seed to the end.
    /// - Returns: whether the copy has what the table has, and the requests of an idle pull; nil without a `Date`,
    ///   and where the plan has come to take the whole table each time.
    private func run(_ seed: UInt64, _ paging: Paging, isPlanted: Bool) -> (Bool, Int?) {
        let random = SeededRandom(seed)
        var late = Late(random)
        var copy = Copy(paging: paging)
        for _ in 0..<12 {
            _ = copy.pull(&late, writes: true, isPlanted: isPlanted)
            late.pass(seconds: Double(random.pick([0, 1, 5, 20, 70])), writes: true)
        }
        late.pass(seconds: 60, writes: false)
        _ = copy.pull(&late, writes: false, isPlanted: isPlanted)
        let isSame = copy.rows == late.rows.mapValues { "\($0.version)" }
        var requests = 0
        for _ in 0..<4 {
            late.pass(seconds: 100, writes: false)
            requests = copy.pull(&late, writes: false, isPlanted: isPlanted)
        }
        return (isSame, late.skew == nil || copy.paging == .full ? nil : requests)
    }

    @Test(arguments: [Paging.keyset, .skipInTies], UInt64(0)..<300)
    func `no row that was committed late is missed, and an idle pull is one request`(
        _ paging: Paging, seed: UInt64
    ) {
        let (isSame, requests) = run(seed, paging, isPlanted: false)
        #expect(isSame, "seed \(seed)")
        #expect(requests ?? 1 == 1, "seed \(seed)")
    }

    @Test func `a token that is settled at once misses rows`() {
        #expect((UInt64(0)..<300).contains { !run($0, .keyset, isPlanted: true).0 })
    }

    // MARK: The engine

    /// A world whose backend gives all rows one old time, and pages of a size.
    private func world(rows: Int, pageRows: Int, text: String) async throws -> World {
        var options = BackendOptions(flavour: .mobileApps)
        options.stamps = .ties(everyMilliseconds: 1_000_003_000)
        options.pageRows = pageRows
        let world = try World(options)
        for number in 0..<rows {
            try await world.elsewhere(
                "POST", nil, #"{"id":"r\#(10_000 + number)","text":"\#(text)"}"#)
        }
        return world
    }

    @Test(arguments: [Paging.keyset, .skipInTies])
    func `an idle table costs one request, however large and equal its rows are`(_ paging: Paging)
        async throws
    {
        let world = try await world(
            rows: 1200, pageRows: 100, text: String(repeating: "x", count: 2000))
        if paging == .skipInTies {
            world.transport.decide { request, _ in
                guard request.head.path?.contains("id%20gt") == true else { return nil }
                return .instead(
                    Response(status: .internalServerError, headerFields: [:], body: []))
            }
        }
        #expect(await world.engine.pull(world.todo).state == .complete)
        try await world.expectSameRows()
        #expect(try await world.store.tables().first?.paging == paging)
        for _ in 0..<3 {
            world.transport.forget()
            let run = await world.engine.pull(world.todo)
            #expect(run.state == .complete && run.pull.first?.received == 0, "\(run)")
            #expect(world.transport.targets.count == 1)
            world.clock.advance(by: .seconds(30))
        }
        world.clock.advance(by: .seconds(1_100_000))
        try await world.elsewhere("PATCH", "r10007", #"{"text":"changed"}"#)
        _ = await world.engine.pull(world.todo)
        try await world.expectSameRows()
    }

    @Test func `a filtered pull has a start of its own`() async throws {
        let world = try await world(rows: 60, pageRows: 1000, text: "x")
        let query = try PullQuery(parsing: "text eq 'x'")
        for requests in [2, 1] {
            world.transport.forget()
            _ = await world.engine.pull(world.todo, query: query, queryID: "x")
            #expect(world.transport.targets.count { $0.contains("$orderby") } == requests)
        }
        world.transport.forget()
        _ = await world.engine.pull(world.todo)
        #expect(world.transport.targets.count == 2)
        try await world.expectSameRows()
    }
}
