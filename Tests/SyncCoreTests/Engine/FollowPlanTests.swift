import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

@Suite struct FollowPlanTests {
    /// The longest wait each time.
    private struct Longest: RandomSource {
        func next(below bound: UInt64) -> UInt64 { bound - 1 }
    }
    private let longest = Longest()

    @Test func `an answer that is no stream is not asked for again for an hour`() {
        var plan = FollowPlan()
        for status in [200, 204, 302, 400, 404, 405, 406, 500, 502, 504] {
            #expect(plan.end(status: status, retryAfter: nil) == .notOffered)
        }
        #expect(plan.pause(after: .notOffered, random: longest) == .seconds(3600))
        #expect(plan.end(status: 401, retryAfter: nil) == .refused)
        #expect(plan.pause(after: .refused, random: longest) == .seconds(600))
    }

    @Test func `a backend that never offered the stream is asked ever more rarely`() {
        var plan = FollowPlan()
        let waits = (0..<20).map { _ in
            plan.pause(after: plan.end(status: 503, retryAfter: nil), random: longest)
        }
        #expect(waits[..<4] == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(waits.last == .seconds(3600))
    }

    @Test func `one that offered it is asked within a minute, and not before it said`() {
        var plan = FollowPlan()
        plan.began()
        #expect(plan.end(status: 500, retryAfter: nil) == .unavailable(retryAfter: nil))
        for _ in 0..<20 { _ = plan.pause(after: .unavailable(retryAfter: nil), random: longest) }
        #expect(plan.pause(after: .unavailable(retryAfter: nil), random: longest) == .seconds(60))
        let named = plan.pause(
            after: .unavailable(retryAfter: .seconds(90)), random: SeededRandom(3))
        #expect(named ?? .zero >= .seconds(90))
        // A stream that lasted begins the waits anew.
        let ended = plan.pause(after: .ended(after: .seconds(60)), random: longest)
        #expect(ended == .seconds(1) && plan.failures == 0)
    }

    @Test func `followers return and pull within the spread that the backend names`() {
        var plan = FollowPlan()
        plan.take(spread: 20_000)
        let random = SeededRandom(1)
        let delays = (0..<2000).map { _ in plan.pullDelay(random: random) }
        #expect(delays.allSatisfy { $0 >= .zero && $0 <= .seconds(20) })
        // In each tenth of it about a tenth of them.
        let counts = (0..<10).map { tenth in
            delays.count { $0.wholeMilliseconds / 2001 == Int64(tenth) }
        }
        #expect(counts.allSatisfy { (140...260).contains($0) }, "\(counts)")
        #expect(plan.pause(after: .ended(after: .seconds(90)), random: longest) == .seconds(20))
        plan.take(spread: .max)
        #expect(plan.spread == .seconds(60))
    }

    @Test func `a table that is named again keeps the time of its pull`() throws {
        let (a, b) = (try #require(TableName("a")), try #require(TableName("b")))
        var heard = HeardChanges()
        heard.add(a, at: .seconds(5))
        heard.add(b, at: .seconds(9))
        heard.add(a, at: .seconds(7))
        #expect(heard.next == .seconds(5))
        #expect(heard.take(now: .seconds(4)) == [])
        #expect(heard.take(now: .seconds(5)) == [a])
        #expect(heard.due == [b: .seconds(9)])
        heard.add(b, at: .seconds(6))
        #expect(heard.take(now: .seconds(6)) == [b] && heard.next == nil)
    }
}
