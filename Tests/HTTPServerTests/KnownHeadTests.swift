import HTTPMessage
import HTTPServer
import HTTPTypes
import Synchronization
import Testing

/// Heads that repeat the one before them on their connection.
@Suite(.timeLimit(.minutes(1))) struct KnownHeadTests {
    private static let line = " HTTP/1.1\r\nHost: h\r\nX-A: 1\r\n"

    @Test func `a repeated head reaches the handler whole, with its own target`() throws {
        let server = try RunningServer(.echo)
        let client = server.client()
        for target in ["/1", "/2?a=b", "/3"] {
            client.send("GET \(target)\(Self.line)\r\n")
            #expect(client.answer()?.text == "GET \(target)\nauthority h\nX-A: 1\n")
        }
    }

    @Test(arguments: [
        "Host: h\r\nX-A: 2\r\n", "Host: h\r\nX-B: 1\r\n", "Host: h\r\n", "Host: i\r\nX-A: 1\r\n",
        "X-A: 1\r\nHost: h\r\n", "Host: h\r\nX-A: 1\r\nX-A: 1\r\n", "Host: h\r\nX-A:\r\n",
        "Host: h\r\nX-A: 11\r\n", "host: h\r\nX-A: 1\r\n",
    ])
    func `another head is read as on a connection of its own`(fields: String) throws {
        let server = try RunningServer(.echo)
        let client = server.client()
        client.send("GET /\(Self.line)\r\n")
        _ = client.answer()
        client.send("GET / HTTP/1.1\r\n\(fields)\r\n")
        let alone = server.exchange("GET / HTTP/1.1\r\n\(fields)\r\n").answer
        #expect(client.answer()?.text == alone?.text)
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nHost: h\r\n\r\n", RefusalReason.repeatedField),
        ("GET /%00 HTTP/1.1\r\nHost: h\r\nX-A: 1\r\n\r\n", .target),
        ("G{T / HTTP/1.1\r\nHost: h\r\nX-A: 1\r\n\r\n", .method),
        ("GET / HTTP/1.1\r\nX-A: 1\r\n\r\n", .missingHost),
    ])
    func `what breaks the rules is refused behind a good head too`(
        text: String, reason: RefusalReason
    ) throws {
        let server = try RunningServer(.echo)
        let client = server.client()
        client.send("GET /\(Self.line)\r\n")
        _ = client.answer()
        client.send(text)
        #expect(client.answer()?.status == 400)
        #expect(server.refusals == [reason])
    }

    @Test func `only requests with the same fields share a memo`() throws {
        let memos = Memos()
        let server = try RunningServer(
            TestHandler { request in
                memos.all.withLock { $0.append(request.memo) }
                return .now(.text("ok"))
            })
        let client = server.client()
        for value in ["1", "1", "2", "2"] {
            client.send("GET / HTTP/1.1\r\nHost: h\r\nX-A: \(value)\r\n\r\n")
            _ = client.answer()
        }
        client.send("POST /\(Self.line)Content-Length: 1\r\n\r\nx")
        _ = client.answer()
        _ = server.exchange("GET / HTTP/1.1\r\nHost: h\r\nX-A: 2\r\n\r\n")
        let seen = memos.all.withLock { $0 }
        try #require(seen.count >= 6)
        #expect(seen[0] != nil && seen[0] === seen[1])
        #expect(seen[2] != nil && seen[2] === seen[3])
        #expect(seen[1] !== seen[2])
        #expect(seen[4] == nil)
        #expect(seen[5] !== seen[3])
    }

    @Test func `what the handler knows is answered without another look`() throws {
        let server = try RunningServer(
            TestHandler(
                knows: { request in
                    request.target == "/later"
                        ? .later { $0(.text("later")) }
                        : request.target == "/known" ? .now(.text("known")) : nil
                },
                answer: { .now(.text("looked at \($0.head.path ?? "")")) }))
        let client = server.client()
        let expected = [
            ("/known", "looked at /known"), ("/known", "known"), ("/other", "looked at /other"),
            ("/later", "later"), ("/known", "known"),
        ]
        for (target, text) in expected {
            client.send("GET \(target)\(Self.line)\r\n")
            #expect(client.answer()?.text == text)
        }
        client.send("HEAD /known\(Self.line)\r\nGET /known HTTP/1.1\r\nHost: i\r\n\r\n")
        #expect(client.head()?.status == 200)
        #expect(client.answer()?.text == "looked at /known")
    }

    private final class Memos: Sendable {
        let all = Mutex<[FieldsMemo?]>([])
    }

    @Test func `fields too long to be remembered are read each time`() throws {
        var limits = Limits()
        limits.rememberedHeadBytes = 16
        let server = try RunningServer(
            limits: limits, TestHandler { .now(.text($0.memo == nil ? "anew" : "known")) })
        let client = server.client()
        for _ in 0..<2 {
            client.send("GET / HTTP/1.1\r\nHost: h\r\nX-A: 0123456789\r\n\r\n")
            #expect(client.answer()?.text == "anew")
        }
    }
}
