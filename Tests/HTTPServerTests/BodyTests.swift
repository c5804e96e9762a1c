import HTTPMessage
import HTTPServer
import HTTPTypes
import Synchronization
import Testing

@Suite struct BodyTests {
    /// Bytes in which every shift and loss shows.
    private static func pattern(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
    }
    private static let limited = TestHandler(
        admission: { _ in .accept(bodyLimitBytes: 1000) },
        answer: { .now(.text("\($0.body.count)")) })

    @Test func `a body of several MiB goes in and out unchanged`() throws {
        let server = try RunningServer(
            TestHandler { .now(Response(status: .ok, body: $0.body)) })
        let body = Self.pattern(8 << 20)
        let client = server.client()
        client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\r\n")
        client.send(body)
        let answer = client.answer()
        #expect(answer?.value("Content-Length") == "\(body.count)")
        #expect(answer?.body == body)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ])
    func `a request without a byte of body is whole`(request: String) throws {
        let (answer, closed) = try RunningServer(Self.limited).exchange(request)
        #expect(answer?.text == "0")
        #expect(!closed)
    }

    @Test(arguments: [(1000, false), (1001, false), (100_000, false), (1000, true), (1001, true)])
    func `a body up to the admitted limit passes, a longer one is 413 and closes`(
        count: Int, isChunked: Bool
    ) throws {
        let server = try RunningServer(Self.limited)
        let body = String(repeating: "b", count: count)
        let head = "POST / HTTP/1.1\r\nHost: h\r\n"
        let hex = String(count, radix: 16)
        let (answer, closed) = server.exchange(
            isChunked
                ? head + "Transfer-Encoding: chunked\r\n\r\n\(hex)\r\n\(body)\r\n0\r\n\r\n"
                : head + "Content-Length: \(count)\r\n\r\n\(body)")
        #expect(answer?.status == (count > 1000 ? 413 : 200))
        #expect(closed == (count > 1000))
        #expect(server.refusals == (count > 1000 ? [.bodyTooLarge] : []))
    }

    @Test(arguments: [false, true])
    func `a chunked body beyond the discard limit is answered 413 and cut`(isChunked: Bool) throws {
        var limits = Limits()
        limits.discardedBodyBytes = 50_000
        let server = try RunningServer(limits: limits, Self.limited)
        let client = server.client()
        client.send("POST / HTTP/1.1\r\nHost: h\r\n")
        client.send(
            isChunked ? "Transfer-Encoding: chunked\r\n\r\n" : "Content-Length: 80000\r\n\r\n")
        if isChunked { client.send("13880\r\n") }
        client.send([UInt8](repeating: 0x62, count: 60_000))
        let answer = client.answer()
        #expect(answer?.status == 413)
        #expect(answer?.text == "{\"error\":\"\(RefusalReason.bodyTooLarge.sentence)\"}")
        #expect(client.head() == nil)
    }

    @Test func `a body announced beyond the discard limit is answered 413 before its first byte`()
        throws
    {
        let server = try RunningServer(Self.limited)
        let client = server.client()
        client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n")
        #expect(client.answer()?.status == 413)
        #expect(client.head() == nil)
    }

    @Test func `a client with Expect gets 100 Continue and then its answer`() throws {
        let server = try RunningServer(Self.limited)
        let client = server.client()
        client.send(
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        #expect(client.head()?.status == 100)
        client.send("abc")
        #expect(client.answer()?.text == "3")
    }

    @Test func `a client with Expect is refused before it sends its body`() throws {
        let handled = Mutex(0)
        let server = try RunningServer(
            TestHandler(
                admission: { _ in .refuse(.text("no", status: .unauthorized)) },
                answer: { _ in
                    handled.withLock { $0 += 1 }
                    return .now(.text(""))
                }))
        let (answer, closed) = server.exchange(
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        #expect(answer?.status == 401)
        #expect(closed)
        #expect(handled.withLock { $0 } == 0)
    }

    @Test func `a refusal closes the connection of a request with a body, and keeps one without`()
        throws
    {
        let server = try RunningServer(
            TestHandler(
                admission: { _ in .refuse(.text("no", status: .forbidden)) },
                answer: { _ in .now(.text("never")) }))
        let body = String(repeating: "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n", count: 100)
        let posted = server.exchange(
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\r\n\(body)")
        #expect(posted.answer?.text == "no")
        #expect(posted.closed)
        let got = server.exchange("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(got.answer?.text == "no")
        #expect(!got.closed)
    }

    @Test func `HEAD has the head of GET and no body`() throws {
        let server = try RunningServer(TestHandler { _ in .now(.text("12345")) })
        let client = server.client()
        client.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n")
        var head = client.answer(toHead: true)
        let get = client.answer()
        head?.head.removeAll { $0.hasPrefix("Date:") }
        #expect(head?.head == get?.head.filter { !$0.hasPrefix("Date:") })
        #expect(head?.value("Content-Length") == "5")
        #expect(get?.text == "12345")
    }

    @Test func `204 has no length, and the next answer is read correctly`() throws {
        let server = try RunningServer(
            TestHandler { request in
                .now(
                    request.path == "/no"
                        ? Response(status: .noContent, headerFields: [.eTag: "\"1\""])
                        : .text("yes"))
            })
        let client = server.client()
        client.send("GET /no HTTP/1.1\r\nHost: h\r\n\r\nGET /yes HTTP/1.1\r\nHost: h\r\n\r\n")
        let empty = client.answer()
        #expect(empty?.status == 204)
        #expect(empty?.value("Content-Length") == nil)
        #expect(empty?.value("ETag") == "\"1\"")
        #expect(client.answer()?.text == "yes")
    }

    @Test(arguments: [0, 1234])
    func `304 has the length of the unchanged page or none`(length: Int) throws {
        let server = try RunningServer(
            TestHandler { request in
                let body = [UInt8](repeating: 1, count: length)
                return .now(
                    request.path == "/no"
                        ? Response(status: .notModified, headerFields: [.eTag: "\"1\""], body: body)
                        : .text("yes"))
            })
        let client = server.client()
        client.send("GET /no HTTP/1.1\r\nHost: h\r\n\r\nGET /yes HTTP/1.1\r\nHost: h\r\n\r\n")
        let unchanged = client.answer()
        #expect(unchanged?.status == 304)
        #expect(unchanged?.value("ETag") == "\"1\"")
        #expect(unchanged?.value("Transfer-Encoding") == nil)
        #expect(unchanged?.value("Content-Length") == (length == 0 ? nil : "1234"))
        #expect(unchanged?.value("Connection") == (length == 0 ? "close" : nil))
        #expect(client.answer()?.text == (length == 0 ? nil : "yes"))
    }

    @Test func `the server adds Date and Content-Length and frames the message itself`() throws {
        let server = try RunningServer(
            TestHandler { _ in
                var fields: HTTPFields = [
                    .contentType: "text/plain", .contentLength: "999", .setCookie: "a=1",
                    .transferEncoding: "chunked", .connection: "upgrade",
                ]
                fields.append(HTTPField(name: .setCookie, value: "b=2\r\nX-Injected: 1"))
                return .now(Response(status: .ok, headerFields: fields, body: Array("ok".utf8)))
            })
        let answer = server.exchange("GET / HTTP/1.1\r\nHost: h\r\n\r\n").answer
        #expect(
            answer?.head.filter { !$0.hasPrefix("Date:") }.sorted() == [
                "Content-Length: 2", "Content-Type: text/plain", "Set-Cookie: a=1",
                "Set-Cookie: b=2  X-Injected: 1",
            ])
        #expect(answer?.text == "ok")
    }

    @Test func `a status that is no final answer becomes 500`() throws {
        let server = try RunningServer(
            TestHandler { _ in .now(.text("", status: .init(code: 101))) })
        #expect(server.exchange("GET / HTTP/1.1\r\nHost: h\r\n\r\n").answer?.status == 500)
    }
}
