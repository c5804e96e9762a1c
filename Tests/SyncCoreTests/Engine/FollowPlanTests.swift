import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

@Suite struct FollowPlanTests {
    /// The longest wait each time.
    private struct Longest: RandomSource {
        func next(below bound: UInt64) -> UInt64 { bound - 1 }
    }
    private let longest = Longest()

    @Test func `an answer that is no stream is not asked for again for an hour`() {
        var plan = FollowPlan()
        for status in [200, 204, 302, 400, 404, 405, 406, 500, 502, 504] {
            #expect(plan.end(status: status, retryAfter: nil) == .notOffered)
        }
        #expect(plan.pause(after: .notOffered, random: longest) == .seconds(3600))
        #expect(plan.end(status: 401, retryAfter: nil) == .refused)
        #expect(plan.pause(after: .refused, random: longest) == .seconds(600))
    }

    @Test func `a backend that never offered the stream is asked ever more rarely`() {
        var plan = FollowPlan()
        let waits = (0..<20).map { _ in
            plan.pause(after: plan.end(status: 503, retryAfter: nil), random: longest)
        }
        #expect(waits[..<4] == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(waits.last == .seconds(3600))
    }

    @Test func `one that offered it is asked within a minute, and not before it said`() {
        var plan = FollowPlan()
        plan.began()
        #expect(plan.end(status: 500, retryAfter: nil) == .unavailable(retryAfter: nil))
        for _ in 0..<20 { _ = plan.pause(after: .unavailable(retryAfter: nil), random: longest) }
        #expect(plan.pause(after: .unavailable(retryAfter: nil), random: longest) == .seconds(60))
        let named = plan.pause(
            after: .unavailable(retryAfter: .seconds(90)), random: SeededRandom(3))
        #expect(named >= .seconds(90))
        // A stream that lasted begins the waits anew.
        let ended = plan.pause(after: .ended(after: .seconds(60)), random: longest)
        #expect(ended == .seconds(1) && plan.failures == 0)
    }

    @Test func `followers return and pull within the spread that the backend names`() {
        var plan = FollowPlan()
        plan.take(spread: 20_000)
        let random = SeededRandom(1)
        let delays = (0..<2000).map { _ in plan.pullDelay(random: random) }
        #expect(delays.allSatisfy { $0 >= .zero && $0 <= .seconds(20) })
        // In each tenth of it about a tenth of them.
        let counts = (0..<10).map { tenth in
            delays.count { $0.wholeMilliseconds / 2001 == Int64(tenth) }
        }
        #expect(counts.allSatisfy { (140...260).contains($0) }, "\(counts)")
        #expect(plan.pause(after: .ended(after: .seconds(90)), random: longest) == .seconds(20))
        plan.take(spread: .max)
        #expect(plan.spread == .seconds(60))
    }

    /// The shortest wait each time.
    private struct Shortest: RandomSource {
        func next(below bound: UInt64) -> UInt64 { 0 }
    }

    @Test func `a stream that ends at once is asked for ever more rarely, whatever it says`() {
        var plan = FollowPlan()
        plan.began()
        plan.take(spread: 0)
        let waits = (0..<8).map { _ in plan.pause(after: .ended(after: .zero), random: longest) }
        #expect(waits[..<4] == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(waits.last == .seconds(60))
        for end in [FollowPlan.End.ended(after: .zero), .ended(after: .seconds(60))] {
            #expect(plan.pause(after: end, random: Shortest()) == .milliseconds(500))
        }
    }

    /// Reads a stream that always has more, as the engine does.
    /// - Returns: the bytes and events of ten minutes.
    private func read(_ piece: [UInt8]) throws -> (bytes: Int, events: Int) {
        var (reader, pace) = (ChangeStreamReader(), FollowPace())
        var (now, bytes, events) = (Duration.zero, 0, 0)
        while now < .seconds(600) {
            if let next = pace.next(now: now) {
                now = next
                continue
            }
            let heard = try reader.take(piece)
            pace.took(bytes: piece.count, heard, now: now)
            bytes += piece.count
            events += heard.count
        }
        return (bytes, events)
    }

    @Test(arguments: [
        ": \n\n",
        "event: change\ndata: {\"table\":\"t\",\"updatedAt\":\"2099-01-01T00:00:00Z\"}\n\n",
        "retry: 0\n\n", "event: reset\ndata: {}\n\n", "\u{0}\u{7}x\n",
    ])
    func `a stream without end is read no faster than the pace`(text: String) throws {
        let times = SyncLimits.changePieceBytes / text.utf8.count
        let piece = Array(String(repeating: text, count: times).utf8)
        let read = try read(piece)
        #expect(read.bytes <= 601 * 65_536 + piece.count)
        #expect(read.events <= 601 * 100 + times)
        if text.contains("reset") { #expect(read.events <= 601 * 5 + times) }
        // And what is slow is not held up.
        var pace = FollowPace()
        for second in 0..<100 {
            #expect(pace.next(now: .seconds(second)) == nil)
            pace.took(bytes: 4096, [.spread(milliseconds: 1)], now: .seconds(second))
        }
    }

    @Test func `a table is pulled for the stream once in five seconds`() throws {
        let (a, b) = (try #require(TableName("a")), try #require(TableName("b")))
        var heard = HeardChanges()
        var pulls: [Int: [TableName]] = [:]
        for tenth in 0..<200 {
            let now = Duration.milliseconds(100 * tenth)
            heard.add(a, at: now)
            if tenth == 123 { heard.add(b, at: now) }
            let taken = heard.take(now: now)
            if !taken.isEmpty { pulls[tenth] = taken }
        }
        #expect(pulls == [0: [a], 50: [a], 100: [a], 123: [b], 150: [a]])
    }

    @Test func `a table that is named again keeps the time of its pull`() throws {
        let (a, b) = (try #require(TableName("a")), try #require(TableName("b")))
        var heard = HeardChanges()
        heard.add(a, at: .seconds(5))
        heard.add(b, at: .seconds(9))
        heard.add(a, at: .seconds(7))
        #expect(heard.next == .seconds(5))
        #expect(heard.take(now: .seconds(4)) == [])
        #expect(heard.take(now: .seconds(5)) == [a])
        #expect(heard.due == [b: .seconds(9)])
        heard.add(b, at: .seconds(6))
        #expect(heard.take(now: .seconds(6)) == [b] && heard.next == nil)
        // The last change of a flood is not forgotten.
        heard.add(b, at: .seconds(7))
        #expect(heard.take(now: .seconds(10)) == [] && heard.next == .seconds(11))
    }
}
