import Testing

@testable import HTTPServer

struct UnreadAnswerTests {
    private func since(_ unread: inout UnreadAnswer, _ now: Int, _ taken: UInt64?) -> Int? {
        unread.since(now: now, taken: taken, minimumBytes: 100, pauseSeconds: 2)
    }

    @Test func `the time continues over samples while a client takes too little`() {
        var unread = UnreadAnswer()
        #expect(since(&unread, 10, 0) == 10)
        #expect(since(&unread, 11, 60) == 10)
        #expect(since(&unread, 13, 99) == 10)
    }

    @Test func `the time begins anew when a client takes enough`() {
        var unread = UnreadAnswer()
        #expect(since(&unread, 10, 0) == 10)
        #expect(since(&unread, 11, 100) == 11)
        #expect(since(&unread, 12, 199) == 11)
        #expect(since(&unread, 13, 200) == 13)
    }

    @Test func `a client with nothing to read has no time`() {
        var unread = UnreadAnswer()
        #expect(since(&unread, 10, 0) == 10)
        #expect(since(&unread, 11, nil) == nil)
        #expect(since(&unread, 12, 0) == 12)
    }

    @Test func `an old sample does not count`() {
        var unread = UnreadAnswer()
        #expect(since(&unread, 10, 0) == 10)
        #expect(since(&unread, 3600, 50) == 3600)
        #expect(since(&unread, 3602, 60) == 3600)
    }
}
