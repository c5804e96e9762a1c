import Dispatch
import SyncCore
import Synchronization
import Testing

@testable import Proxy

struct LongReadTests {
    @Test func `clients take turns, each with what it asked first`() {
        var line = FairLine<String, Int>(limitPerClient: 3)
        let joined = [("a", 1), ("a", 2), ("a", 3), ("a", 4), ("b", 5), ("c", 6), ("c", 7)].map {
            line.join($0.0, $0.1)
        }
        #expect(joined == [true, true, true, false, true, true, true])
        func next(_ count: Int) -> [Int?] { (0..<count).map { _ in line.next() } }
        #expect(next(3) == [1, 5, 6])
        // One that comes now is behind those that wait, though it waits for the first time.
        let later = [line.join("d", 8), line.join("a", 9)]
        #expect(later == [true, true])
        #expect(next(6) == [2, 7, 8, 3, 9, nil])
        let last = line.join("a", 10)
        #expect(last)
        #expect(next(1) == [10])
    }

    @Test func `one runs at a time, and a client with too many is sent away`() async {
        let reads = LongReads()
        let (one, other) = (
            LongReads.Client(identity: "anonymous", actor: .client),
            LongReads.Client(identity: "anonymous", actor: .namedClient("phone"))
        )
        let (order, ran) = AsyncStream.makeStream(of: String.self)
        let gate = DispatchSemaphore(value: 0)
        let (begun, begins) = AsyncStream.makeStream(of: Void.self)
        #expect(
            reads.run(for: one) {
                begins.yield()
                gate.wait()
                ran.yield("first")
            })
        for await _ in begun { break }
        for number in 0..<Limits.longReadsWaiting {
            #expect(reads.run(for: one) { ran.yield("one \(number)") })
        }
        #expect(!reads.run(for: one) { ran.yield("one too many") })
        #expect(reads.run(for: other) { ran.yield("other") })
        gate.signal()
        var seen: [String] = []
        for await text in order {
            seen.append(text)
            if seen.count == Limits.longReadsWaiting + 2 { break }
        }
        #expect(
            seen == ["first", "one 0", "other"]
                + (1..<Limits.longReadsWaiting).map { "one \($0)" })
    }
}
