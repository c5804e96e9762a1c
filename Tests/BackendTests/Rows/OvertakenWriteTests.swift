import Dispatch
import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import Backend

/// The serving part where another writer is faster, on every storage.
@Suite struct OvertakenWriteTests {
    /// Two clients of one storage. Before each of the first writes of `slow`, `fast` sends something.
    private struct Race {
        let slow: Client
        let fast: Client

        init(
            _ kind: StorageUnderTest, _ options: BackendOptions = BackendOptions(), times: Int = 1,
            _ between: @escaping @Sendable (Client, Int) throws -> Void
        ) throws {
            let storage = try kind.open()
            let fast = try Client(on: storage, options)
            let turns = Turns(times)
            slow = try Client(
                on: InterruptedStorage(base: storage) {
                    if let turn = turns.next() { try between(fast, turn) }
                }, options)
            self.fast = fast
        }
    }

    /// Counts turns down.
    private final class Turns: Sendable {
        private let left: Mutex<Int>
        init(_ count: Int) { left = Mutex(count) }

        func next() -> Int? {
            left.withLock { left in
                guard left > 0 else { return nil }
                left -= 1
                return left
            }
        }
    }

    @Test(arguments: StorageUnderTest.all)
    func `an update without a condition is laid over what the faster writer left`(
        kind: StorageUnderTest
    ) throws {
        let race = try Race(kind) { fast, _ in
            try fast.send("PATCH", "/tables/t/a", #"{"b":2}"#)
        }
        try race.fast.send("POST", "/tables/t", #"{"id":"a","a":1}"#)
        let changed = try race.slow.send("PATCH", "/tables/t/a", #"{"c":3}"#)
        #expect(changed.status == 200)
        #expect(changed.text.hasPrefix(#"{"id":"a","a":1,"b":2,"c":3,"#))
        #expect(try race.fast.backend.effects().map(\.kind) == [.insert, .update, .update])
    }

    /// A method, its path and body, and the status of a write whose condition was overtaken.
    static let conditional: [(String, String?)] = [
        ("PATCH", #"{"n":3}"#), ("DELETE", nil), ("POST", nil),
    ]

    @Test(arguments: StorageUnderTest.all, conditional)
    func `a write with a condition that the faster writer broke is refused`(
        kind: StorageUnderTest, request: (String, String?)
    ) throws {
        let race = try Race(kind) { fast, _ in
            try fast.send("PATCH", "/tables/t/a", #"{"n":2}"#)
        }
        let tag = try race.fast.send("POST", "/tables/t", #"{"id":"a","n":1}"#).field("ETag")
        let answer = try race.slow.send(
            request.0, "/tables/t/a", request.1, ["If-Match": try #require(tag)])
        #expect(answer.status == 412)
        #expect(answer.json["n"]?.integer == 2)
        #expect(try race.fast.send("GET", "/tables/t/a").json["n"]?.integer == 2)
        #expect(try race.fast.backend.effects().map(\.kind) == [.insert, .update])
    }

    @Test(arguments: StorageUnderTest.all)
    func `a row that was removed and came again is updated as it is then`(
        kind: StorageUnderTest
    ) throws {
        var options = BackendOptions()
        options.dynamicTable = TableOptions(softDelete: false)
        let race = try Race(kind, options) { fast, _ in
            try fast.send("DELETE", "/tables/t/a")
            try fast.send("POST", "/tables/t", #"{"id":"a","b":2}"#)
        }
        try race.fast.send("POST", "/tables/t", #"{"id":"a","a":1}"#)
        let changed = try race.slow.send("PATCH", "/tables/t/a", #"{"c":3}"#)
        #expect(changed.text.hasPrefix(#"{"id":"a","b":2,"c":3,"#))
    }

    @Test(arguments: StorageUnderTest.all)
    func `an insert that another insert overtook is answered with the row that is there`(
        kind: StorageUnderTest
    ) throws {
        let race = try Race(kind) { fast, _ in
            try fast.send("POST", "/tables/t", #"{"id":"a","n":2}"#)
        }
        let answer = try race.slow.send("POST", "/tables/t", #"{"id":"a","n":1}"#)
        #expect(answer.status == 409 && answer.json["n"]?.integer == 2)
        #expect(try race.fast.backend.effects().count == 1)
    }

    @Test(arguments: StorageUnderTest.all)
    func `a column has the type of the faster writer`(kind: StorageUnderTest) throws {
        let race = try Race(kind, BackendOptions(flavour: .node)) { fast, _ in
            try fast.send("POST", "/tables/t", #"{"id":"b","n":"2"}"#)
        }
        let answer = try race.slow.send("POST", "/tables/t", #"{"id":"a","n":1}"#)
        #expect(answer.status == 201 && answer.json["n"]?.string == "1")
    }

    @Test(arguments: StorageUnderTest.all)
    func `a column has the spelling of the faster writer`(kind: StorageUnderTest) throws {
        let race = try Race(kind, BackendOptions()) { fast, _ in
            try fast.send("POST", "/tables/t", #"{"id":"b","Text":"x"}"#)
        }
        let answer = try race.slow.send("POST", "/tables/t", #"{"id":"a","text":"y"}"#)
        #expect(answer.status == 201 && answer.json["Text"]?.string == "y", "\(answer.text)")
        #expect(try race.fast.send("GET", "/tables/t?$filter=text%20eq%20'y'").ids == ["a"])
    }

    @Test(arguments: StorageUnderTest.all)
    func `a deletion by filter takes the rows as they are then`(kind: StorageUnderTest) throws {
        let race = try Race(kind, BackendOptions(flavour: .node)) { fast, _ in
            try fast.send("PATCH", "/tables/t/b", #"{"n":2}"#)
        }
        for id in ["a", "b", "c"] {
            try race.fast.send("POST", "/tables/t", "{\"id\":\"\(id)\",\"n\":1}")
        }
        let answer = try race.slow.send("DELETE", "/tables/t?$filter=n%20eq%201")
        #expect(answer.ids == ["a", "c"])
        #expect(try race.fast.send("GET", "/tables/t").ids == ["b"])
    }

    @Test func `a write that is overtaken every time is refused in the end`() throws {
        let race = try Race(StorageUnderTest.all[0], times: .max) { fast, turn in
            try fast.send("PATCH", "/tables/t/a", "{\"n\":\(turn)}")
        }
        try race.fast.send("POST", "/tables/t", #"{"id":"a"}"#)
        #expect(try race.slow.send("PATCH", "/tables/t/a", #"{"c":3}"#).status == 503)
        #expect(try race.fast.send("GET", "/tables/t/a").json["c"] == nil)
    }

    @Test(.ends, arguments: StorageUnderTest.all)
    func `requests on a storage that may wait run on its threads`(
        kind: StorageUnderTest
    ) async throws {
        let queue = DispatchQueue(label: "understudy.tests.storage")
        let submitted = Submitted()
        let callThreads = CallThreads.ownThreads { _, work in
            submitted.count.add(1, ordering: .relaxed)
            queue.async(execute: work)
            return .begins
        }
        let storage = InterruptedStorage(base: try kind.open(), callThreads: callThreads) {
            dispatchPrecondition(condition: .onQueue(queue))
        }
        var options = BackendOptions()
        options.servesFaults = true
        let client = try Client(on: storage, options)
        for (latency, target) in [(0, "/tables/t"), (1, "/tables/t"), (0, "/-/effects")] {
            client.backend.faults = Faults(rules: [FaultRule(.latency(milliseconds: latency))])
            let isWrite = target == "/tables/t"
            let request = Request(
                head: .init(
                    method: isWrite ? .post : .get, scheme: "http", authority: "b", path: target,
                    headerFields: [.contentType: "application/json"]),
                body: isWrite ? Array("{}".utf8) : [])
            guard case .later(let begin) = client.backend.handle(request) else {
                throw Unexpected()
            }
            let response = await withCheckedContinuation { waiting in
                begin(Reply { waiting.resume(returning: $0) })
            }
            #expect(response.head.status.code == (isWrite ? 201 : 200))
        }
        #expect(try await client.backend.effects().count == 2)
        #expect(submitted.count.load(ordering: .relaxed) == 4)
        #expect(client.backend.requestCounts == ["POST": 2])
    }

    private final class Submitted: Sendable {
        let count = Atomic(0)
    }
}
