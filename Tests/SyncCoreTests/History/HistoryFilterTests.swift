import GRDB
import TablesProtocol
import Testing

@testable import Storage
@testable import SyncCore

@Suite struct HistoryFilterTests {
    let fixture: StoreFixture
    var store: Store { fixture.store }
    init() throws { fixture = try StoreFixture() }

    /// Noon of 14 November 2023 and of the days after it, in the fixture's time.
    private static let noon: Int64 = 1_699_963_200_000
    private static let day: Int64 = 86_400_000

    private func period(_ first: Int, _ last: Int) -> Period {
        let begin = Self.noon - Self.day / 2
        return Period(
            from: Instant(milliseconds: begin + Int64(first) * Self.day),
            to: Instant(milliseconds: begin + Int64(last + 1) * Self.day))
    }

    /// Entries on each of some days, named by day and number: `0.0`, `0.1` and so on.
    private func fill(days: Int, each: Int) async throws {
        try await store.write { transaction in
            for day in 0..<days {
                for number in 0..<each {
                    try transaction.run(
                        """
                        INSERT INTO history(at, kind, actor, item_id, summary)
                        VALUES (?, 'write', 'client', ?, 'It is new.')
                        """,
                        [Self.noon + Int64(day) * Self.day + Int64(number / 2), "\(day).\(number)"])
                }
            }
        }
    }

    private func all(_ filter: HistoryFilter, limit: Int) async throws -> [String?] {
        var found: [String?] = []
        var after: String?
        repeat {
            let page = try await store.lists.history(filter, after: after, limit: limit)
            found += page.items.map(\.itemID)
            #expect(after.map { StoreLists.isPlace($0, in: filter) } ?? true)
            after = page.next
            if after == nil { #expect(page.total == found.count) }
        } while after != nil
        return found
    }

    @Test func `the entries of a day come page by page in the order of their times`() async throws {
        try await fill(days: 3, each: 7)
        let day = HistoryFilter(period: period(1, 1))
        let expected = (0..<7).reversed().map { "1.\($0)" }
        #expect(try await all(day, limit: 3) == expected)
        // With a text every entry of the day is looked at, in the same order.
        #expect(
            try await all(HistoryFilter(text: "new", period: period(1, 1)), limit: 3) == expected)
        #expect(try await all(HistoryFilter(period: period(1, 2)), limit: 5).count == 14)
        #expect(
            try await all(HistoryFilter(period: Period(to: day.period.to)), limit: 100).count == 14)
        #expect(
            try await all(HistoryFilter(period: Period(from: day.period.to)), limit: 2).count == 7)
    }

    @Test func `a cursor is for lists in the same order alone`() async throws {
        try await fill(days: 1, each: 3)
        let day = HistoryFilter(period: period(0, 0))
        let whole = try #require(try await store.lists.history(after: nil, limit: 1).next)
        let ofDay = try #require(try await store.lists.history(day, after: nil, limit: 1).next)
        #expect(
            StoreLists.isPlace(whole, in: HistoryFilter()) && StoreLists.isPlace(ofDay, in: day))
        #expect(
            !StoreLists.isPlace(ofDay, in: HistoryFilter()) && !StoreLists.isPlace(whole, in: day))
        #expect(!StoreLists.isPlace(ofDay + "0 ", in: day) && !StoreLists.isPlace("", in: day))
    }

    @Test func `entries are selected by what happened, who did it, table and text together`()
        async throws
    {
        let actors: [Actor] = [
            .client, .namedClient("desk-ana"), .person, .engine,
        ]
        let other = try #require(TableName("Other"))
        try await store.write { transaction in
            let tables = try [fixture.todo, other].map { try transaction.tables.make($0).id }
            for (number, actor) in actors.enumerated() {
                for (place, kind) in [HistoryKind.write, .conflict].enumerated() {
                    try transaction.history.record(
                        kind, actor: actor, tableID: tables[place],
                        item: try ItemID("\(number)\(kind.rawValue.first ?? "-")"),
                        summary: "It is.")
                }
            }
        }
        func found(_ filter: HistoryFilter) async throws -> Set<String> {
            Set(try await all(filter, limit: 4).compactMap(\.self))
        }
        let writes: Set = ["0w", "1w", "2w", "3w"]
        #expect(try await found(HistoryFilter(kinds: [.write])) == writes)
        #expect(try await found(HistoryFilter(kinds: [.write, .conflict])).count == 8)
        #expect(try await found(HistoryFilter(kinds: [.sent])) == [])
        #expect(
            try await found(HistoryFilter(kinds: [.write], actor: .client)) == ["0w", "1w"])
        #expect(
            try await found(HistoryFilter(kinds: [.write], actor: .namedClient("desk-ana")))
                == ["1w"])
        #expect(try await found(HistoryFilter(actor: .person, table: "OTHER")) == ["2c"])
        #expect(try await found(HistoryFilter(table: "todoitem")) == writes)
        #expect(try await found(HistoryFilter(table: "none")) == [])
        #expect(try await found(HistoryFilter(text: "desk-ana", table: "other")) == ["1c"])
        #expect(try await found(HistoryFilter(text: "3", kinds: [.conflict])) == ["3c"])
        let now = fixture.clock.now()
        #expect(
            try await found(HistoryFilter(text: "you", actor: .person, period: Period(from: now)))
                == ["2w", "2c"])
        #expect(try await found(HistoryFilter(text: "you", period: Period(to: now))) == [])
    }

    @Test func `a title is found in a period too`() async throws {
        try await fixture.insert("a", #"{"text":"Buy milk"}"#)
        try await store.write { transaction in
            try transaction.run("UPDATE history SET after = NULL, before = NULL")
        }
        let since = Period(from: fixture.clock.now())
        #expect(try await all(HistoryFilter(text: "MILK"), limit: 5) == ["a"])
        #expect(try await all(HistoryFilter(text: "MILK", period: since), limit: 5) == ["a"])
    }

    @Test(arguments: [Actor.client, .namedClient("phone"), .person, .engine])
    func `an actor is read as it was written`(actor: Actor) {
        #expect(Actor(rawValue: actor.rawValue) == actor)
    }

    @Test func `words of dashboard and API name kinds and actors`() {
        #expect(
            HistoryWords.kind("Refused") == .quarantined && HistoryWords.kind("write") == .write)
        #expect(HistoryWords.kinds.compactMap(HistoryWords.kind) == HistoryKind.allCases)
        #expect(HistoryWords.kind("none") == nil)
        let actors = ["You", "understudy", "a client", "client", "client:desk", "person"]
        #expect(
            actors.map(HistoryWords.actor)
                == [.person, .engine, .client, .client, .namedClient("desk"), .person])
        for word in ["", "client:", "elsewhere:person", "somebody"] {
            #expect(HistoryWords.actor(word) == nil)
        }
    }

    @Test func `a page of a day reads as much of a long history as of a short one`() async throws {
        try await fill(days: 30, each: 40)
        let early = try await steps(HistoryFilter(period: period(1, 1)))
        let late = try await steps(HistoryFilter(period: period(28, 28)))
        #expect(abs(early - late) < late / 10, "\(early) and \(late)")
        let text = try await steps(HistoryFilter(text: "new", period: period(1, 1)))
        #expect(text < 10 * late)
    }

    /// The steps of SQLite's machine for the first page and the one after it.
    private func steps(_ filter: HistoryFilter) async throws -> Int {
        try await store.read { transaction in
            let counted = Counted()
            transaction.db.database.trace { event in
                guard case .statement(let statement) = event else { return }
                counted.sql.append(statement.expandedSQL)
            }
            let list = HistoryList(transaction: transaction, filter: filter)
            let first = try list.page(after: nil, limit: 10)
            let place = first.next.flatMap { HistoryPlace(cursor: $0, isByTime: filter.isByTime) }
            _ = try list.page(after: place, limit: 10)
            transaction.db.database.trace(options: [], nil)
            return try counted.sql.filter { $0.hasPrefix("SELECT") }
                .reduce(0) { try $0 + transaction.db.query($1, []) { _ in true } }
        }
    }

    private final class Counted {
        var sql: [String] = []
    }
}
