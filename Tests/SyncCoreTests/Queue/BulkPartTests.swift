import HTTPTypes
import TablesProtocol
import Testing

@testable import SyncCore

@Suite struct BulkPartTests {
    private let fixture: StoreFixture
    private var store: Store { fixture.store }

    init() throws { fixture = try StoreFixture() }

    private func open() async throws -> [String] {
        try await store.operations(OperationFilter(), limit: 100).items.map(\.itemID)
    }

    @Test func `a bulk action goes part by part from the latest and is taken back whole`()
        async throws
    {
        for number in 0..<7 { try await fixture.insert("i\(number)") }
        let first = try await store.bulkPart(.discard, OperationFilter(), after: nil, limit: 3)
        #expect(first.done.count == 3 && first.refused == 0)
        #expect(try await open() == (0..<4).map { "i\($0)" })
        // New operations are later than the remaining parts.
        try await fixture.insert("new")
        let second = try await store.bulkPart(
            .discard, OperationFilter(), after: first.next, limit: 10)
        #expect(second.done.count == 4 && second.next == nil)
        #expect(try await open() == ["new"])
        let undone = try await store.undoDecisions((first.done + second.done).reversed())
        #expect(undone.done == 7 && undone.refused == 0)
        #expect(try await Set(open()) == Set((0..<7).map { "i\($0)" } + ["new"]))
        let again = try await store.undoDecisions(first.done)
        #expect(again.done == 0 && again.refused == 3)
    }

    @Test func `a window into the queue begins where it is asked to`() async throws {
        for number in 0..<9 {
            try await fixture.insert("i\(number)", #"{"text":"a_b \#(number)"}"#)
        }
        for filter in [OperationFilter(), OperationFilter(text: "A_B")] {
            let page = try await store.operations(filter, skip: 4, limit: 3)
            #expect(page.items.map(\.itemID) == ["i4", "i5", "i6"])
            #expect(page.total == 9 && page.next != nil)
            let rest = try await store.operations(filter, after: page.next, skip: 1, limit: 3)
            #expect(rest.items.map(\.itemID) == ["i8"] && rest.next == nil)
        }
        #expect(try await store.operations(OperationFilter(text: "a%b"), limit: 9).total == 0)
        #expect(try await store.operations(OperationFilter(text: #"a\_"#), limit: 9).total == 0)
    }

    @Test func `the operations of some items are found with what follows them`() async throws {
        for id in ["a", "b", "c"] { try await fixture.insert(id) }
        let first = try #require(try await fixture.send())
        try await fixture.update(first.itemID.text, #"{"text":"later"}"#)
        let found = try await store.operations(
            OperationFilter(table: "TodoItem", items: ["a", "c", "unknown"]), limit: 9)
        #expect(found.items.map(\.itemID) == ["a", "c", "a"])
        #expect(found.total == 3)
    }

    @Test func `causes are counted, the most frequent first`() async throws {
        for number in 0..<5 { try await fixture.insert("i\(number)") }
        for number in 0..<5 {
            let sent = try #require(try await fixture.send())
            let reason = number < 2 ? "Rare." : "Frequent."
            _ = try await store.write {
                try Settling(transaction: $0).settle(
                    sent.seq, .quarantined(reason: reason, maybeApplied: false), attempt: nil)
            }
        }
        try await fixture.insert("waits")
        let groups = try await store.operationGroups(OperationFilter(), limit: 9)
        #expect(groups.map(\.reason) == ["Frequent.", "Rare."])
        #expect(groups.map(\.count) == [3, 2])
        let some = try await store.operationGroups(OperationFilter(text: "rare"), limit: 9)
        #expect(some.map(\.count) == [2])
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
