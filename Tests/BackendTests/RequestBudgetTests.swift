import TablesProtocol
import Testing

@testable import Backend

@Suite struct RequestBudgetTests {
    private let start = Instant(milliseconds: 1_700_000_000_000)

    private func at(_ milliseconds: Int64) -> Instant {
        Instant(milliseconds: start.milliseconds + milliseconds)
    }

    @Test func `as many requests as the rate are accepted, and a quarter of a second's in advance`()
    {
        var budget = RequestBudget(requestsPerSecond: 100)
        var accepted = [0, 0, 0]
        // 400 requests a second, for three seconds.
        for number in 0..<1200 {
            let time = Int64(number) * 1000 / 400
            if budget.decide(now: at(time)) == .accepted { accepted[Int(time / 1000)] += 1 }
        }
        #expect((124...125).contains(accepted[0]))
        #expect((99...101).contains(accepted[1]))
        #expect((99...101).contains(accepted[2]))
    }

    @Test func `those that are refused together are told to return one after another`() {
        var budget = RequestBudget(requestsPerSecond: 100)
        var waits: [Int] = []
        for _ in 0..<1025 {
            if case .refused(let seconds) = budget.decide(now: start) { waits.append(seconds) }
        }
        // 25 places in each second: a quarter of the rate.
        #expect(waits.count == 1000)
        #expect(waits == waits.sorted())
        let perSecond = Dictionary(grouping: waits) { $0 }.mapValues(\.count)
        #expect(perSecond.count == 40)
        #expect(perSecond.values.allSatisfy { (24...26).contains($0) })
    }

    @Test func `nobody is told to stay away longer than the limit`() {
        var budget = RequestBudget(requestsPerSecond: 1)
        var longest = 0
        for _ in 0..<10_000 {
            if case .refused(let seconds) = budget.decide(now: start) {
                longest = max(longest, seconds)
            }
        }
        #expect(longest == Limits.budgetWaitSeconds)
    }

    @Test func `a clock that is set back gives no permits and no endless waits`() {
        var budget = RequestBudget(requestsPerSecond: 1)
        #expect(budget.decide(now: start) == .accepted)
        for _ in 0..<1000 { _ = budget.decide(now: start) }
        let past = at(-3_600_000)
        #expect(
            budget.decide(now: past) == .refused(retryAfterSeconds: Limits.budgetWaitSeconds))
        #expect(budget.decide(now: at(-3_598_000)) == .accepted)
    }
}
