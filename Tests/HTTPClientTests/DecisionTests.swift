import HTTPMessage
import HTTPTypes
import Testing

@testable import HTTPClient

struct DecisionTests {
    @Test func `the gate opens once for an unsafe request and again for a safe one`() {
        var once = SendGate(isSafe: false)
        #expect(once.reach == .notSent)
        let first = once.admit()
        #expect(first && once.reach == .maybeSent)
        let second = once.admit()
        #expect(!second && once.state == .repetitionStopped && once.reach == .maybeSent)
        let third = once.admit()
        #expect(!third)

        var again = SendGate(isSafe: true)
        let answers = [again.admit(), again.admit(), again.admit()]
        #expect(answers == [true, true, true] && again.state == .opened(times: 3))
    }

    @Test func `the line serves each host in order and within its limit`() {
        var line = WaitingLine(limitPerHost: 2, standingLimit: 2)
        let now = ContinuousClock.now
        for (id, host) in [(1, "a"), (2, "a"), (3, "a"), (4, "b"), (5, "a")] as [(UInt64, String)] {
            line.join(.init(id: id, host: host, deadline: now + .seconds(Int(id))))
        }
        var begun: [UInt64] = []
        while let id = line.next() { begun.append(id) }
        #expect(begun == [1, 2, 4])
        line.release(4, host: "b")
        #expect(line.next() == nil)
        line.release(1, host: "a")
        #expect(line.next() == 3)
        #expect(line.expired(at: now + .seconds(4)) == nil)
        #expect(line.expired(at: now + .seconds(5)) == 5)
        let isGone = !line.leave(5)
        #expect(isGone)
        line.join(.init(id: 6, host: "a", deadline: now))
        let isTaken = line.leave(6)
        #expect(isTaken)
        #expect(line.waiting.isEmpty)
    }

    @Test func `one that waits for its caller gives its turn to the next and keeps a place`() {
        var line = WaitingLine(limitPerHost: 2, standingLimit: 2)
        for id in 1...6 as ClosedRange<UInt64> {
            line.join(.init(id: id, host: "a", deadline: .now))
        }
        func begun(_ line: inout WaitingLine) -> [UInt64] {
            var ids: [UInt64] = []
            while let id = line.next() { ids.append(id) }
            return ids
        }
        #expect(begun(&line) == [1, 2])
        var givenUp = [line.stand(1, host: "a")]
        #expect(begun(&line) == [3])
        // Whichever stands again has still but one place.
        givenUp.append(line.stand(1, host: "a"))
        #expect(begun(&line) == [])
        givenUp.append(line.stand(2, host: "a"))
        #expect(begun(&line) == [4])
        #expect(givenUp == [nil, nil, nil])
        // One too many: the one that has not moved for longest is given up.
        line.moved(1)
        givenUp = [line.stand(3, host: "a")]
        #expect(givenUp == [2])
        line.release(2, host: "a")
        #expect(line.standing == [1, 3])
        #expect(begun(&line) == [5])
        line.release(1, host: "a")
        #expect(begun(&line) == [])
        line.release(4, host: "a")
        #expect(begun(&line) == [6])
    }

    @Test func `a body that is passed on has a limit too`() {
        var collector = ResponseCollector(bodyLimitBytes: 10)
        // What the reader has no room for comes again.
        var hasRoom = [collector.hasRoom(for: 6), collector.hasRoom(for: 6)]
        collector.passed(bytes: 6)
        hasRoom.append(collector.hasRoom(for: 4))
        #expect(hasRoom == [true, true, true])
        #expect(collector.refusal == nil)
        let hasMore = collector.hasRoom(for: 5)
        #expect(!hasMore)
        #expect(collector.refusal == .tooLarge)
    }

    @Test func `a collector keeps the final head and ignores trailers`() {
        var collector = ResponseCollector(bodyLimitBytes: 3)
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
