import Synchronization
import TablesProtocol
import Testing

@testable import Storage
@testable import SyncCore

/// The ends of a read: its steps, its time, and the loss of its client.
struct StatementBudgetTests {
    private let clock = StoreFixture.Clock()

    private var budget: StatementBudget { StatementBudget(uptime: { [clock] in clock.uptime() }) }

    /// The number of checks that a read passes with this many steps per check.
    private func count(
        _ budget: StatementBudget, steps: Int, each: Int,
        isAbandoned: @escaping @Sendable () -> Bool = { false }
    ) -> Int {
        budget.within(steps: steps, isAbandoned: isAbandoned) {
            (0..<1_000).prefix { _ in budget.spend(steps: each) }.count
        }
    }

    @Test func `a read ends after its steps on a stopped clock, and the next starts at zero`() {
        let budget = budget
        for _ in 0..<2 {
            #expect(count(budget, steps: 200_000, each: 10_000) == 21)
        }
        #expect(count(budget, steps: 1_000_000, each: 1_000) == 1_000)
    }

    @Test func `a read ends after its time with steps left, and the next starts at zero`() {
        clock.moves(by: .milliseconds(StoreLimits.readMilliseconds / 5))
        let budget = budget
        for _ in 0..<2 {
            #expect(count(budget, steps: 200_000_000, each: 10_000) == 5)
        }
    }

    @Test func `the clock is read every ten thousand steps of any kind`() {
        clock.moves(by: .milliseconds(1))
        let budget = budget
        #expect(count(budget, steps: 200_000_000, each: 100) == 1_000)
        #expect(clock.uptime() == .milliseconds(11))
    }

    @Test func `a read ends when its client is gone`() {
        let looks = Mutex(0)
        let end = count(budget, steps: 200_000_000, each: 10_000) {
            looks.withLock { looks in
                looks += 1
                return looks > 7
            }
        }
        #expect(end == 7)
    }

    @Test func `work outside a read has no limit`() {
        clock.moves(by: .seconds(60))
        let budget = budget
        _ = count(budget, steps: 1_000, each: 10_000)
        #expect((0..<100).allSatisfy { _ in budget.spend(steps: 1_000_000) })
    }
}
