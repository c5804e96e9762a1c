import TablesProtocol
import Testing

@testable import SyncCore

struct DueWorkTests {
    private static let noon = Instant(milliseconds: 1_800_000_000_000)
    private static let yesterday = noon.advanced(by: .seconds(-86_400))

    @Test func `work that is due now is due on every clock`() async throws {
        let fixture = try StoreFixture()
        try await fixture.insert("a")
        func summary() throws -> StoreSummary { try fixture.store.summary() }
        let due = try summary().due
        #expect(due == .now)
        #expect(due.isDue(.earliest))
        #expect(DueWork(Self.noon, noted: Self.noon) == .now)
        #expect(!DueWork(nil, noted: Self.noon).isDue(Self.noon))
    }

    @Test func `a due time is kept unless the clock was set back since`() {
        let due = DueWork(Self.noon.advanced(by: .seconds(600)), noted: Self.noon)
        #expect(!due.isDue(Self.noon))
        #expect(!due.isDue(Self.noon.advanced(by: .seconds(599))))
        #expect(due.isDue(Self.noon.advanced(by: .seconds(600))))
        #expect(due.isDue(Self.yesterday))
        // A small correction of the clock does not count as set back.
        #expect(!due.isDue(Self.noon.advanced(by: .seconds(-1))))
    }

    @Test func `no due time is later than the longest delay`() {
        let due = DueWork(Self.noon.advanced(by: .seconds(100 * 86_400)), noted: Self.noon)
        #expect(!due.isDue(Self.noon.advanced(by: .seconds(SyncLimits.retryAfterSeconds - 1))))
        #expect(due.isDue(Self.noon.advanced(by: .seconds(SyncLimits.retryAfterSeconds))))
    }

    @Test func `the earliest due work of two stores counts`() {
        let soon = DueWork.at(Self.noon, noted: Self.yesterday)
        let later = DueWork.at(Self.noon.advanced(by: .seconds(1)), noted: Self.yesterday)
        let order = [DueWork.now, soon, later, .never]
        for (place, first) in order.enumerated() {
            for second in order[place...] {
                #expect(first.earlier(second) == first)
                #expect(second.earlier(first) == first)
            }
        }
    }
}
