import HTTPMessage
import Synchronization
import Testing

@testable import Proxy

@Suite(.timeLimit(.minutes(1))) struct ReadPermitsTests {
    private final class Clients: Sendable {
        let haveLeft = Mutex<Set<Int>>([])

        func reply(_ number: Int) -> Reply {
            Reply({ _ in }, clientHasLeft: { self.haveLeft.withLock { $0.contains(number) } })
        }
    }

    /// Takes as many permits as there are; returns how many.
    private func takeAll(_ permits: ReadPermits) -> Int {
        var count = 0
        while permits.take() { count += 1 }
        return count
    }

    @Test func `reads whose clients have left are cancelled and give their permits to others`()
        async
    {
        let (permits, clients) = (ReadPermits(3, checkedFrom: 2), Clients())
        let (starts, start) = AsyncStream.makeStream(of: Int.self)
        let (ends, end) = AsyncStream.makeStream(of: Int.self)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<3 {
                #expect(permits.take())
                group.addTask {
                    await permits.run(for: clients.reply(number)) { _ in
                        start.yield(number)
                        // A backend that does not answer: the end comes by cancellation alone.
                        try? await Task.sleep(for: .seconds(3_600))
                        end.yield(number)
                    }
                }
            }
            for await _ in starts.prefix(3) {}
            #expect(takeAll(permits) == 0)
            clients.haveLeft.withLock { $0 = [0, 1] }
            #expect(takeAll(permits) == 2)
            var ended: Set<Int> = []
            for await number in ends.prefix(2) { ended.insert(number) }
            #expect(ended == [0, 1])
            group.cancelAll()
        }
        // The permits of the first two belong to others.
        #expect(takeAll(permits) == 1)
    }

    @Test func `few reads are not looked at, and a permit is given back once`() async {
        let (permits, clients) = (ReadPermits(2, checkedFrom: 2), Clients())
        clients.haveLeft.withLock { $0 = [0] }
        #expect(permits.take())
        await permits.run(for: clients.reply(0)) { release in
            #expect(takeAll(permits) == 1)
            permits.release()
            #expect(!Task.isCancelled)
            release()
            release()
        }
        #expect(takeAll(permits) == 2)
    }
}
