import HTTPMessage
import HTTPTypes
import Testing

@testable import HTTPClient

struct DecisionTests {
    @Test func `an unsafe request is admitted once, a safe one every time`() {
        var once = SendGate(isSafe: false)
        #expect(once.reach == .notSent)
        let first = once.admit()
        #expect(first && once.reach == .maybeSent)
        let second = once.admit()
        #expect(!second && once.state == .retryBlocked && once.reach == .maybeSent)
        let third = once.admit()
        #expect(!third)

        var again = SendGate(isSafe: true)
        let answers = [again.admit(), again.admit(), again.admit()]
        #expect(answers == [true, true, true] && again.state == .sent(times: 3))
    }

    @Test func `the queue serves each host in order and within its limit`() {
        var queue = RequestQueue(limitPerHost: 2, pausedLimit: 2)
        let now = ContinuousClock.now
        for (id, host) in [(1, "a"), (2, "a"), (3, "a"), (4, "b"), (5, "a")] as [(UInt64, String)] {
            queue.enqueue(.init(id: id, host: host, deadline: now + .seconds(Int(id))))
        }
        var begun: [UInt64] = []
        while let id = queue.startNext() { begun.append(id) }
        #expect(begun == [1, 2, 4])
        queue.release(4, host: "b")
        #expect(queue.startNext() == nil)
        queue.release(1, host: "a")
        #expect(queue.startNext() == 3)
        #expect(queue.removeExpired(at: now + .seconds(4)) == nil)
        #expect(queue.removeExpired(at: now + .seconds(5)) == 5)
        let isGone = !queue.removeWaiting(5)
        #expect(isGone)
        queue.enqueue(.init(id: 6, host: "a", deadline: now))
        let isTaken = queue.removeWaiting(6)
        #expect(isTaken)
        #expect(queue.waiting.isEmpty)
    }

    @Test
    func `a paused request frees its slot, and of too many the one paused longest is given up`() {
        var queue = RequestQueue(limitPerHost: 2, pausedLimit: 2)
        for id in 1...6 as ClosedRange<UInt64> {
            queue.enqueue(.init(id: id, host: "a", deadline: .now))
        }
        func begun(_ queue: inout RequestQueue) -> [UInt64] {
            var ids: [UInt64] = []
            while let id = queue.startNext() { ids.append(id) }
            return ids
        }
        #expect(begun(&queue) == [1, 2])
        var givenUp = [queue.pause(1, host: "a")]
        #expect(begun(&queue) == [3])
        // A request that pauses again counts once.
        givenUp.append(queue.pause(1, host: "a"))
        #expect(begun(&queue) == [])
        givenUp.append(queue.pause(2, host: "a"))
        #expect(begun(&queue) == [4])
        #expect(givenUp == [nil, nil, nil])
        // With one too many, the one paused for longest is given up.
        queue.noteProgress(1)
        givenUp = [queue.pause(3, host: "a")]
        #expect(givenUp == [2])
        queue.release(2, host: "a")
        #expect(queue.paused == [1, 3])
        #expect(begun(&queue) == [5])
        queue.release(1, host: "a")
        #expect(begun(&queue) == [])
        queue.release(4, host: "a")
        #expect(begun(&queue) == [6])
    }

    @Test func `a streamed body has a limit`() {
        var collector = ResponseCollector(headLimitBytes: 200, bodyLimitBytes: 10)
        // libcurl repeats a piece that the reader has no capacity for.
        var hasRoom = [collector.hasRoom(for: 6), collector.hasRoom(for: 6)]
        collector.passed(bytes: 6)
        hasRoom.append(collector.hasRoom(for: 4))
        #expect(hasRoom == [true, true, true])
        #expect(collector.refusal == nil)
        let hasMore = collector.hasRoom(for: 5)
        #expect(!hasMore)
        #expect(collector.refusal == .tooLarge)
    }

    @Test func `a line of blanks does not end a head`() {
        var collector = ResponseCollector(headLimitBytes: 200, bodyLimitBytes: 3)
        for line in ["HTTP/1.1 200 OK\r\n", "A: b\r\n", " \r\n", "C: d\r\n", "\r\n"] {
            #expect(!collector.isHeadComplete)
            #expect(collector.take(headLine: Array(line.utf8)) == .taken)
        }
        #expect(collector.isHeadComplete)
        let fields = collector.response(decoded: false).head.headerFields
        #expect(fields.map(\.description) == ["A: b", "C: d"])
    }

    @Test func `a trailer does not count in the limit of the head`() {
        var collector = ResponseCollector(headLimitBytes: 30, bodyLimitBytes: 3)
        // 19, 6 and 2 bytes, then 10 each.
        for line in ["HTTP/1.1 200 Good\r\n", "A: b\r\n", "\r\n"] {
            #expect(collector.take(headLine: Array(line.utf8)) == .taken)
        }
        #expect(collector.take(body: [1]) == .taken)
        let trailer = Array("X: 12345\r\n".utf8)
        for _ in 0..<3 { #expect(collector.take(headLine: trailer) == .taken) }
        #expect(collector.response(decoded: false).bytes == [1])
        #expect(collector.take(headLine: trailer) == .tooLarge)
    }

    @Test func `a collector keeps the final head and ignores trailers`() {
        var collector = ResponseCollector(headLimitBytes: 200, bodyLimitBytes: 3)
        func feed(_ lines: String...) {
            for line in lines { #expect(collector.take(headLine: Array(line.utf8)) == .taken) }
        }
        feed("HTTP/1.1 100 Continue\r\n", "X: 1\r\n", "\r\n", "HTTP/2 207 \r\n", "A: b\r\n")
        #expect(!collector.isHeadComplete)
        feed("\r\n")
        #expect(collector.isHeadComplete)
        #expect(collector.take(body: [1, 2]) == .taken)
        feed("Trailer: x\r\n")
        let response = collector.response(decoded: true)
        #expect(response.head.status.code == 207)
        #expect(response.head.headerFields.map(\.description) == ["A: b"])
        #expect(response.bytes == [1, 2])
        #expect(collector.take(body: [3, 4]) == .tooLarge)
        #expect(collector.refusal == .tooLarge)
    }
}
