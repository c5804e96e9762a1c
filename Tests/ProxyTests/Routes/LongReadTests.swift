import Dispatch
import SyncCore
import Synchronization
import TablesProtocol
import Testing

@testable import Proxy

@Suite(.timeLimit(.minutes(1))) struct LongReadTests {
    @Test func `clients take turns, each with what it asked first`() {
        var line = FairQueue<String, Int>(lanes: 1, limitPerClient: 3)
        let joined = [("a", 1), ("a", 2), ("a", 3), ("a", 4), ("b", 5), ("c", 6), ("c", 7)].map {
            line.join($0.0, $0.1)
        }
        #expect(joined == [true, true, true, false, true, true, true])
        func next(_ count: Int) -> [Int?] {
            (0..<count).map { _ in
                guard let turn = line.next() else { return nil }
                line.end(turn)
                return turn.work
            }
        }
        #expect(next(3) == [1, 5, 6])
        // One that comes now is behind those that wait, though it waits for the first time.
        let later = [line.join("d", 8), line.join("a", 9)]
        #expect(later == [true, true])
        #expect(next(6) == [2, 7, 8, 3, 9, nil])
        let last = line.join("a", 10)
        #expect(last)
        #expect(next(1) == [10])
    }

    /// A line of three lanes in which these wait.
    private static func line(_ waiting: [(String, Int)]) -> FairQueue<String, Int> {
        waiting.reduce(into: FairQueue(lanes: 3, limitPerClient: 3)) { line, next in
            let isTaken = line.join(next.0, next.1)
            #expect(isTaken)
        }
    }

    /// The turns that there are now.
    private static func turns(
        _ line: inout FairQueue<String, Int>
    ) -> [FairQueue<String, Int>.Turn] {
        var turns: [FairQueue<String, Int>.Turn] = []
        while let turn = line.next() { turns.append(turn) }
        return turns
    }

    @Test func `each lane has another client, and one that ends makes room for the next`() {
        var line = Self.line([("a", 1), ("a", 2), ("b", 3), ("c", 4), ("d", 5), ("b", 6)])
        let first = Self.turns(&line)
        #expect(first.map(\.work) == [1, 3, 4])
        #expect(Set(first.map(\.lane)) == [0, 1, 2])
        line.end(first[1])
        let fourth = Self.turns(&line)
        // What the same client asked next comes after the one that had no turn yet.
        #expect(fourth.map(\.work) == [5] && fourth.map(\.lane) == [first[1].lane])
        line.end(first[2])
        let last = Self.turns(&line)
        #expect(last.map(\.work) == [6])
    }

    @Test func `a client has one lane, also where others are free`() {
        var line = Self.line([("a", 1), ("a", 2), ("a", 3)])
        let first = Self.turns(&line)
        #expect(first.map(\.work) == [1])
        line.end(first[0])
        let second = Self.turns(&line)
        #expect(second.map(\.work) == [2])
    }

    @Test func `what is in vain goes, and the rest keeps its order`() {
        var line = Self.line([("a", 1), ("b", 2), ("a", 3), ("a", 4), ("c", 5)])
        let removed = line.remove { $0 == 2 || $0 == 1 }
        #expect(removed.sorted() == [1, 2])
        let isTaken = line.join("a", 6)
        #expect(isTaken)
        var works: [Int] = []
        while let turn = line.next() {
            works.append(turn.work)
            line.end(turn)
        }
        #expect(works == [3, 5, 4, 6])
    }

    /// Lists that run until the test lets them end, each with its name.
    private final class Runs: Sendable {
        let reads = LongReads(readers: 4..<4 + Limits.longReadsAtOnce)
        let ran: AsyncStream<String>
        private let running: AsyncStream<String>.Continuation
        private let gates = Mutex<[String: DispatchSemaphore]>([:])

        init() { (ran, running) = AsyncStream.makeStream(of: String.self) }

        func client(_ name: String) -> LongReads.Client {
            LongReads.Client(identity: "anonymous", actor: .namedClient(name))
        }

        /// Begins one that waits, and says its name and reader when it runs.
        func hold(
            _ client: String, clientHasLeft: @escaping @Sendable () -> Bool = { false }
        ) -> Bool {
            let gate = DispatchSemaphore(value: 0)
            gates.withLock { $0[client] = gate }
            return reads.run(for: self.client(client), clientHasLeft: clientHasLeft) {
                [running] reader in
                running.yield("\(client) \(reader.map(String.init) ?? "left")")
                gate.wait()
            }
        }

        func end(_ client: String) { gates.withLock { $0[client] }?.signal() }

        func note(_ client: String, _ name: String, clientHasLeft: Bool = false) -> Bool {
            reads.run(for: self.client(client), clientHasLeft: { clientHasLeft }) {
                [running] reader in
                running.yield(reader == nil ? "\(name) left" : name)
            }
        }

        func next(_ count: Int) async -> [String] {
            var names: [String] = []
            for await name in ran {
                names.append(name)
                if names.count == count { break }
            }
            return names
        }
    }

    @Test func `three clients run at once, each on a reader of its own; the fourth waits`() async {
        let runs = Runs()
        let names = ["a", "b", "c"]
        for name in names { #expect(runs.hold(name)) }
        #expect(Set(await runs.next(3).map { $0.suffix(1) }) == ["4", "5", "6"])
        #expect(runs.note("d", "d"))
        #expect(runs.note("a", "second of a"))
        runs.end("b")
        #expect(await runs.next(1) == ["d"])
        runs.end("a")
        #expect(await runs.next(1) == ["second of a"])
        runs.end("c")
    }

    @Test func `what waits for a client that has left is ended without its turn`() async {
        let runs = Runs()
        for name in ["a", "b", "c"] { #expect(runs.hold(name)) }
        _ = await runs.next(3)
        for number in 0..<Limits.longReadsWaiting {
            #expect(runs.note("d", "d\(number)", clientHasLeft: true))
        }
        // They make room at once, and none of them needs a lane.
        #expect(runs.note("d", "here"))
        let left = await runs.next(Limits.longReadsWaiting)
        #expect(left == (0..<Limits.longReadsWaiting).map { "d\($0) left" })
        runs.end("a")
        #expect(await runs.next(1) == ["here"])
        for name in ["b", "c"] { runs.end(name) }
    }

    @Test func `the operator's lists do not wait for those of clients`() async throws {
        try await TestApp.run { test in
            let item = await test.table("POST", "todoitem", #"{"id":"a","text":"x"}"#)
            #expect(item.status == 201)
            let gate = DispatchSemaphore(value: 0)
            let longReads = test.graph.routes.tables.reads.longReads
            for name in ["a", "b", "c", "d"] {
                let client = LongReads.Client(identity: "anonymous", actor: .namedClient(name))
                #expect(longReads.run(for: client, clientHasLeft: { false }) { _ in gate.wait() })
            }
            let items = try await test.ask("GET", "/tables/todoitem/items")
            #expect(items.status == 200)
            // Neither do lists of clients that are not long.
            #expect(await test.table("GET", "todoitem").status == 200)
            for _ in 0..<4 { gate.signal() }
        }
    }

    @Test func `a long list of a table that is not whole yet waits for its turn as well`()
        async throws
    {
        try await TestApp.run(triggers: Set(Trigger.allCases)) { test in
            let text = String(repeating: "ab", count: 20_000)
            for row in 0..<40 {
                _ = test.elsewhere("POST", "todoitem", #"{"id":"r\#(row)","text":"\#(text)"}"#)
            }
            let gate = DispatchSemaphore(value: 0)
            let longReads = test.graph.routes.tables.reads.longReads
            let client = LongReads.Client(identity: "anonymous", actor: .client)
            for _ in 0...Limits.longReadsWaiting {
                #expect(longReads.run(for: client, clientHasLeft: { false }) { _ in gate.wait() })
            }
            // A list in the order of changes waits for the pull, and is then the store's.
            let long = await test.table(
                "GET", "todoitem?$filter=indexof(text,'zz')%20eq%201&$orderby=updatedAt")
            #expect(long.status == 503)
            #expect(long.body.text.contains(LongReads.tooMany), "\(long.body.text)")
            for _ in 0...Limits.longReadsWaiting { gate.signal() }
        }
    }
}
