import Synchronization
import TablesProtocol
import Testing

@testable import Proxy

final class ReadinessTests: Sendable {
    private let clock = Mutex<Int64>(10_000)
    private let proofs = Mutex(0)

    @Test
    func
        `a test write holds for a second for any number of callers, and not after the clock went back`()
        async
    {
        let readiness = Readiness(
            now: { Instant(milliseconds: self.clock.withLock { $0 }) },
            prove: {
                self.proofs.withLock { $0 += 1 }
                return Readiness.Finding(stores: self.proofs.withLock { $0 })
            })
        func ask(at milliseconds: Int64) async -> Set<Int> {
            clock.withLock { $0 = milliseconds }
            return await withTaskGroup(of: Int.self) { group in
                for _ in 0..<50 { group.addTask { await readiness.finding().stores } }
                return await group.reduce(into: []) { $0.insert($1) }
            }
        }
        #expect(await ask(at: 10_000) == [1])
        #expect(await ask(at: 10_999) == [1])
        #expect(await ask(at: 11_000) == [2])
        // After the clock was set back there is a new test write.
        #expect(await ask(at: 5000) == [3])
        #expect(proofs.withLock { $0 } == 3)
    }
}
