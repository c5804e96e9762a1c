import Synchronization
import TestSupport
import Testing

@testable import Proxy

struct WaitingPlacesTests {
    /// Begins to wait, and says so; what came of it is in the task.
    private func waiter(
        _ places: WaitingPlaces, _ patience: Gate, _ order: Order, _ name: String
    ) async -> Task<Bool, Never> {
        let begun = Gate()
        let task = Task {
            let isTaken = await places.take {
                await begun.passed()
                await patience.passed()
            }
            if isTaken { order.names.withLock { $0.append(name) } }
            return isTaken
        }
        await begun.reached()
        begun.open()
        return task
    }

    private final class Order: Sendable {
        let names = Mutex<[String]>([])
    }

    @Test func `those that wait get the places in their order, and more than may wait get none`()
        async
    {
        let (places, order, never) = (WaitingPlaces(1, waiting: 2), Order(), Gate())
        #expect(await places.take { Issue.record("a free place is taken at once") })
        let first = await waiter(places, never, order, "first")
        let second = await waiter(places, never, order, "second")
        #expect(await !places.take { Issue.record("no one waits beyond the limit") })
        places.giveBack()
        #expect(await first.value)
        places.giveBack()
        #expect(await second.value)
        #expect(order.names.withLock { $0 } == ["first", "second"])
        places.giveBack()
        #expect(await places.take { Issue.record("a free place is taken at once") })
        never.open()
    }

    @Test func `a wait ends with the patience or the task, and takes no place`() async {
        let (places, order, never) = (WaitingPlaces(1, waiting: 4), Order(), Gate())
        #expect(await places.take {})
        let short = Gate()
        let hasty = await waiter(places, short, order, "hasty")
        let cancelled = await waiter(places, never, order, "cancelled")
        let last = await waiter(places, never, order, "last")
        short.open()
        #expect(await !hasty.value)
        cancelled.cancel()
        #expect(await !cancelled.value)
        places.giveBack()
        #expect(await last.value)
        #expect(order.names.withLock { $0 } == ["last"])
        never.open()
    }
}
