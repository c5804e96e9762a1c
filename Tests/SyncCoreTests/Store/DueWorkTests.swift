import TablesProtocol
import Testing

@testable import SyncCore

struct DueWorkTests {
    private static let noon = Instant(milliseconds: 1_800_000_000_000)
    private static let yesterday = noon.advanced(by: .seconds(-86_400))

    @Test func `work that is due now is due by every clock`() async throws {
        let fixture = try StoreFixture()
        try await fixture.insert("a")
        func summary() throws -> StoreSummary { try fixture.store.summary() }
        let due = try summary().due
        #expect(due == .now)
        #expect(due.isDue(.earliest))
        #expect(DueWork(Self.noon, noted: Self.noon) == .now)
        #expect(!DueWork(nil, noted: Self.noon).isDue(Self.noon))
    }

    @Test func `a time is waited for, unless the clock was set back since it was noted`() {
        let due = DueWork(Self.noon.advanced(by: .seconds(600)), noted: Self.noon)
        #expect(!due.isDue(Self.noon))
        #expect(!due.isDue(Self.noon.advanced(by: .seconds(599))))
        #expect(due.isDue(Self.noon.advanced(by: .seconds(600))))
        #expect(due.isDue(Self.yesterday))
        // A clock that is corrected by a moment was not set back.
        #expect(!due.isDue(Self.noon.advanced(by: .seconds(-1))))
    }

    @Test func `no time is further away than the longest wait`() {
        let due = DueWork(Self.noon.advanced(by: .seconds(100 * 86_400)), noted: Self.noon)
        #expect(!due.isDue(Self.noon.advanced(by: .seconds(SyncLimits.retryAfterSeconds - 1))))
        #expect(due.isDue(Self.noon.advanced(by: .seconds(SyncLimits.retryAfterSeconds))))
    }

    @Test func `of two stores the work counts that is due first`() {
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
