import HTTPTypes
import TablesProtocol
import Testing

@testable import SyncCore

@Suite struct BulkPartTests {
    private let fixture: StoreFixture
    private var store: Store { fixture.store }

    init() throws { fixture = try StoreFixture() }

    private func open() async throws -> [String] {
        try await store.lists.operations(OperationFilter(), limit: 100).items.map(\.itemID)
    }

    @Test func `a bulk action goes part by part from the latest and is taken back whole`()
        async throws
    {
        for number in 0..<7 { try await fixture.insert("i\(number)") }
        let first = try await store.bulkPart(.discard, OperationFilter(), after: nil, limit: 3)
        #expect(first.changed == 3 && first.refused == 0)
        #expect(try await open() == (0..<4).map { "i\($0)" })
        // New operations are later than the remaining parts.
        try await fixture.insert("new")
        let second = try await store.bulkPart(
            .discard, OperationFilter(), after: first.next ?? nil, limit: 10)
        #expect(second.changed == 4 && second.next == .some(nil))
        #expect(try await open() == ["new"])
        let all = (first.operations ?? []) + (second.operations ?? [])
        let undone = try await store.undoDecisions(all.reversed())
        #expect(undone.map(\.effect) == Array(repeating: .restored, count: 7))
        #expect(try await Set(open()) == Set((0..<7).map { "i\($0)" } + ["new"]))
        let again = try await store.undoDecisions(first.operations ?? [])
        #expect(again.map(\.effect) == [nil, nil, nil])
    }

    @Test func `conflicts are decided part by part, and each part names its own`() async throws {
        for id in ["a", "b", "c"] { _ = try await fixture.conflict(id) }
        try await fixture.insert("other")
        let mine = try await store.lists.conflicts(after: nil, limit: 9).items
        let decidedElsewhere = try #require(mine.first { $0.itemID == "a" })
        let first = try await store.bulkPart(
            .resolve(.server), OperationFilter(), after: nil, limit: 1)
        #expect(first.changed == 1 && first.refused == 0 && first.next != .some(nil))
        _ = try await store.resolve(
            decidedElsewhere.id, revision: decidedElsewhere.revision, .mine)
        let second = try await store.bulkPart(
            .resolve(.server), OperationFilter(), after: first.next ?? nil, limit: 9)
        #expect(second.changed == 1 && second.refused == 0 && second.next == .some(nil))
        let all = (first.operations ?? []) + (second.operations ?? [])
        #expect(!all.contains(decidedElsewhere.id))
        let undone = try await store.undoDecisions(all)
        #expect(undone.map(\.effect) == [.reopened, .reopened])
        #expect(
            try await Set(store.lists.conflicts(after: nil, limit: 9).items.map(\.itemID)) == [
                "b", "c",
            ])
        #expect(try await fixture.chain("a").map(\.state) == [.queued])
    }

    @Test func `a window into the queue begins where it is asked to`() async throws {
        for number in 0..<9 {
            try await fixture.insert("i\(number)", #"{"text":"a_b \#(number)"}"#)
        }
        for filter in [OperationFilter(), OperationFilter(text: "A_B")] {
            let page = try await store.lists.operations(filter, skip: 4, limit: 3)
            #expect(page.items.map(\.itemID) == ["i4", "i5", "i6"])
            #expect(page.total == 9 && page.next != nil)
            let rest = try await store.lists.operations(filter, after: page.next, skip: 1, limit: 3)
            #expect(rest.items.map(\.itemID) == ["i8"] && rest.next == nil)
        }
        #expect(try await store.lists.operations(OperationFilter(text: "a%b"), limit: 9).total == 0)
        #expect(
            try await store.lists.operations(OperationFilter(text: #"a\_"#), limit: 9).total == 0)
    }

    @Test func `the operations of some items are found with what follows them`() async throws {
        for id in ["a", "b", "c"] { try await fixture.insert(id) }
        let first = try #require(try await fixture.send())
        try await fixture.update(first.itemID.text, #"{"text":"later"}"#)
        let found = try await store.lists.operations(
            OperationFilter(table: "TodoItem", items: ["a", "c", "unknown"]), limit: 9)
        #expect(found.items.map(\.itemID) == ["a", "c", "a"])
        #expect(found.total == 3)
    }

    /// Sends the next operation, which is refused with a reason and a status; nil without an answer.
    private func refuse(_ reason: String, status: Int?) async throws {
        let sent = try #require(try await fixture.send())
        let end = status.map { AttemptEnd(status: $0) }
        _ = try await store.write {
            try Settling(transaction: $0).settle(
                sent.seq, .quarantined(reason: reason, maybeApplied: false), attempt: end)
        }
    }

    private func group(
        _ reason: String, _ count: Int, status: Int?, since: Int64, tried: Int64, last: Int64
    ) -> OperationGroup {
        let times = [since, tried, last].map {
            Instant(milliseconds: 1_700_000_000_000 + $0)
        }
        return OperationGroup(
            state: .quarantined, status: status, reason: reason, count: count, since: times[0],
            firstTriedAt: times[1], lastTriedAt: times[2])
    }

    @Test func `causes are counted, the most frequent first`() async throws {
        let refusals: [(String, Int?)] = [
            ("Rare.", 400), ("Title \"a\" of 1 is taken.", 422), ("Same.", 409),
            ("Title \"b\" of 22 is taken.", 422), ("Title \"c\" of 3 is taken.", 422),
            ("Same.", 409), ("Title \"d\" of 4 is taken.", 409), ("No answer 5.", nil),
        ]
        for number in refusals.indices {
            fixture.clock.advance(milliseconds: 1)
            try await fixture.insert("i\(number)")
        }
        for (reason, status) in refusals {
            fixture.clock.advance(milliseconds: 100)
            try await refuse(reason, status: status)
        }
        try await fixture.insert("waits")
        let all = [
            group("Title “…” of # is taken.", 3, status: 422, since: 4, tried: 218, last: 521),
            group("Same.", 2, status: 409, since: 6, tried: 319, last: 622),
            group("Rare.", 1, status: 400, since: 2, tried: 117, last: 117),
            group("Title \"d\" of 4 is taken.", 1, status: 409, since: 14, tried: 723, last: 723),
            group("No answer 5.", 1, status: nil, since: 16, tried: 824, last: 824),
        ]
        let groups = try await store.lists.operationGroups(OperationFilter(), limit: 9)
        #expect(groups.items == all && groups.total == 5)
        let first = try await store.lists.operationGroups(OperationFilter(), limit: 2)
        #expect(first.items == Array(all.prefix(2)) && first.total == 5)
        let some = try await store.lists.operationGroups(OperationFilter(text: "rare"), limit: 9)
        #expect(some.items == [all[2]] && some.total == 1)
        let none = try await store.lists.operationGroups(OperationFilter(states: [.done]), limit: 9)
        #expect(none.items == [] && none.total == 0)
        // What a group names as its reason, status and state selects the group and nothing else.
        let members = [["i1", "i3", "i4"], ["i2", "i5"], ["i0"], ["i6"], ["i7"]]
        for (group, ids) in zip(all, members) {
            let filter = OperationFilter(
                states: [group.state], reason: group.reason,
                status: group.status.map(OperationFilter.LastStatus.code) ?? .noAnswer)
            let found = try await store.lists.operations(filter, limit: 9)
            #expect(found.items.map(\.itemID) == ids && found.total == ids.count)
            #expect(try await store.lists.operationGroups(filter, limit: 9).items == [group])
            let plan = try await store.bulk(.discard, filter, dryRun: true)
            #expect(plan.matched == ids.count)
        }
        let outcome = try await store.bulkPart(
            .discard, OperationFilter(reason: all[0].reason, status: .code(422)), after: nil,
            limit: 9)
        #expect(outcome.changed == 3)
        #expect(try await open() == ["i0", "i2", "i5", "i6", "i7", "waits"])
    }

    @Test func `a list is narrowed by age and attempts and sorted`() async throws {
        for (number, name) in ["todoitem", "notes", "todoitem", "notes"].enumerated() {
            fixture.clock.advance(milliseconds: 1_000)
            let table = try #require(TableName(name))
            let body = ItemBody(id: try ItemID("i\(number)"), columns: Columns())
            _ = await fixture.write(.insert(body), table: table)
        }
        for _ in 0..<2 { try await refuse("No.", status: 400) }
        let third = Instant(milliseconds: 1_700_000_003_000)
        func ids(
            _ filter: OperationFilter, _ order: OperationOrder = .queue, skip: Int = 0
        ) async throws -> [String] {
            let page = try await store.lists.operations(filter, sorted: order, skip: skip, limit: 3)
            #expect(order == .queue || page.next == nil)
            return page.items.map(\.itemID)
        }
        #expect(try await ids(OperationFilter(before: third)) == ["i0", "i1"])
        #expect(try await ids(OperationFilter(attempts: 1)) == ["i0", "i1"])
        #expect(try await ids(OperationFilter(status: .noAnswer)) == ["i2", "i3"])
        #expect(try await store.lists.operations(OperationFilter(attempts: 1), limit: 1).total == 2)
        for text in [nil, "i"] {
            let filter = OperationFilter(text: text)
            #expect(try await ids(filter, .newest) == ["i3", "i2", "i1"])
            #expect(try await ids(filter, .newest, skip: 1) == ["i2", "i1", "i0"])
            #expect(try await ids(filter, .attempts) == ["i0", "i1", "i2"])
            #expect(try await ids(filter, .table) == ["i1", "i3", "i0"])
        }
    }

    @Test func `secrets are left out of the header fields that are kept`() {
        let fields: HTTPFields = [
            .authorization: "Bearer abc", .cookie: "a=b", .ifMatch: "\"v\"",
            HTTPField.Name("X-ZUMO-AUTH")!: "abc", HTTPField.Name("My-Access-Token")!: "abc",
        ]
        let lines = RecordedFields.lines(fields)
        #expect(lines.count == 5 && !lines.joined().contains("abc"))
        #expect(lines.contains { $0.lowercased() == "if-match: \"v\"" })
        #expect(lines.count { $0.hasSuffix("(kept secret)") } == 4)
    }
}
