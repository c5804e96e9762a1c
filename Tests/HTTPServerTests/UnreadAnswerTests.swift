import Testing

@testable import HTTPServer

struct UnreadAnswerTests {
    private func since(_ unread: inout UnreadAnswer, _ now: Int, _ taken: UInt64?) -> Int? {
        unread.since(now: now, taken: taken, slowestBytes: 100, pauseSeconds: 2)
    }

    @Test func `the time of a client that takes too little goes on from look to look`() {
        var unread = UnreadAnswer()
        #expect(since(&unread, 10, 0) == 10)
        #expect(since(&unread, 11, 60) == 10)
        #expect(since(&unread, 13, 99) == 10)
    }

    @Test func `with enough bytes the time begins anew`() {
        var unread = UnreadAnswer()
        #expect(since(&unread, 10, 0) == 10)
        #expect(since(&unread, 11, 100) == 11)
        #expect(since(&unread, 12, 199) == 11)
        #expect(since(&unread, 13, 200) == 13)
    }

    @Test func `a client for whom nothing waits is not looked at`() {
        var unread = UnreadAnswer()
        #expect(since(&unread, 10, 0) == 10)
        #expect(since(&unread, 11, nil) == nil)
        #expect(since(&unread, 12, 0) == 12)
    }

    @Test func `what was seen in an earlier crowd says nothing of this one`() {
        var unread = UnreadAnswer()
        #expect(since(&unread, 10, 0) == 10)
        #expect(since(&unread, 3600, 50) == 3600)
        #expect(since(&unread, 3602, 60) == 3600)
    }
}
