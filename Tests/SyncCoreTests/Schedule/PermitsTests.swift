import Synchronization
import TestSupport
import Testing

@testable import SyncCore

struct PermitsTests {
    /// Begins to wait, and returns when it waits. The task has the result.
    private func waiter(
        _ permits: Permits, _ timeout: Gate, _ order: Order, _ name: String
    ) async -> Task<Bool, Never> {
        let begun = Gate()
        let task = Task {
            let isTaken = await permits.take {
                await begun.passed()
                await timeout.passed()
            }
            if isTaken { order.names.withLock { $0.append(name) } }
            return isTaken
        }
        await begun.waitForArrival()
        begun.open()
        return task
    }

    private final class Order: Sendable {
        let names = Mutex<[String]>([])
    }

    @Test func `callers get permits in their order, and more than the limit get none`()
        async
    {
        let (permits, order, never) = (Permits(1, waiting: 2), Order(), Gate())
        #expect(await permits.take { Issue.record("a free permit is taken at once") })
        let first = await waiter(permits, never, order, "first")
        let second = await waiter(permits, never, order, "second")
        #expect(await !permits.take { Issue.record("no one waits beyond the limit") })
        permits.release()
        #expect(await first.value)
        permits.release()
        #expect(await second.value)
        #expect(order.names.withLock { $0 } == ["first", "second"])
        permits.release()
        #expect(await permits.take { Issue.record("a free permit is taken at once") })
        never.open()
    }

    @Test func `a wait ends with the time-out or the task, without a permit`() async {
        let (permits, order, never) = (Permits(1, waiting: 4), Order(), Gate())
        #expect(await permits.take {})
        let short = Gate()
        let hasty = await waiter(permits, short, order, "hasty")
        let cancelled = await waiter(permits, never, order, "cancelled")
        let last = await waiter(permits, never, order, "last")
        short.open()
        #expect(await !hasty.value)
        cancelled.cancel()
        #expect(await !cancelled.value)
        permits.release()
        #expect(await last.value)
        #expect(order.names.withLock { $0 } == ["last"])
        never.open()
    }

    @Test func `a permit that no caller waits for is reported idle once`() async {
        let permits = Permits(1)
        #expect(await permits.take())
        #expect(!permits.takeIdleFlag())
        let second = Task.immediate { await permits.take() }
        permits.release()
        #expect(await second.value)
        #expect(!permits.takeIdleFlag())
        permits.release()
        #expect(permits.takeIdleFlag())
        #expect(!permits.takeIdleFlag())
    }

    @Test func `while closed, present and later callers get none`() async {
        let permits = Permits(1)
        #expect(await permits.take())
        let waits = Task.immediate { await permits.take() }
        permits.close()
        #expect(await !waits.value)
        #expect(await !permits.take())
        permits.release()
        permits.open()
        #expect(await permits.take())
    }
}
