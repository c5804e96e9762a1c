import HTTPMessage
import HTTPServer
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(1))) struct WireTests {
    @Test func `a connection is kept for the next request`() throws {
        let server = try RunningServer(.echo)
        let client = server.client()
        for index in 0..<3 {
            client.send("GET /\(index) HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(client.answer()?.text == "GET /\(index)\nauthority h\n")
        }
        #expect(server.refusals.isEmpty)
        // Each head is judged by itself.
        client.send("GET / HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nHost: h\r\n\r\n")
        #expect(client.answer()?.status == 400)
        #expect(server.refusals == [.repeatedField])
    }

    @Test func `pipelined requests are answered in order, waiting ones too`() async throws {
        let (replies, replied) = AsyncStream.makeStream(of: Reply.self)
        let server = try RunningServer(
            TestHandler { request in
                if request.path == "/later" { return .later { replied.yield($0) } }
                return .now(.text(request.head.path ?? ""))
            })
        let client = server.client()
        let line = " HTTP/1.1\r\nHost: h\r\n"
        client.send(
            "POST /1\(line)Content-Length: 3\r\n\r\nabcGET /later\(line)\r\nGET /3\(line)\r\n")
        #expect(client.answer()?.text == "/1")
        for await reply in replies.prefix(1) { reply(.text("/2")) }
        #expect(client.answer()?.text == "/2")
        #expect(client.answer()?.text == "/3")
    }

    @Test func `fields keep their order, repetition and bytes; Host becomes the authority`() throws
    {
        let server = try RunningServer(.echo)
        let sent = "X-B: 2\r\nHost: a.example:81\r\nx-a:1\r\nX-B: 3\r\nCookie: a=\u{e9}; b\r\n"
        let answer = server.exchange("REPORT /r HTTP/1.1\r\n\(sent)\r\n").answer
        #expect(
            answer?.text
                == "REPORT /r\nauthority a.example:81\nX-B: 2\nx-a: 1\nX-B: 3\n"
                + "Cookie: a=\u{e9}; b\n")
    }

    @Test(arguments: [
        "/a%2Fb%20c?$filter=a%20eq%20'%2F'&x=1&x=2", "/http://other.example/x?y=%26", "/*",
        "//x//..//y/./?", "/%", "/%0", "/?%0g", "/é?q=é", "/a+b;c=1?&&=&",
    ])
    func `the target reaches the handler raw`(target: String) throws {
        let server = try RunningServer(.echo)
        let answer = server.exchange("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n").answer
        #expect(answer?.text == "GET \(target)\nauthority h\n")
    }

    private static let getHead = "GET / HTTP/1.1\r\nHost: a\r\n"
    private static let postHead = "POST / HTTP/1.1\r\nHost: a\r\n"

    static let ambiguous: [(String, RefusalReason)] = [
        ("\(getHead)Host: a\r\n\r\n", .repeatedField),
        ("\(postHead)Content-Length: 1\r\nContent-Length: 1\r\n\r\nx", .repeatedField),
        ("\(postHead)Content-Length: 1\r\ncontent-length: 2\r\n\r\nxy", .repeatedField),
        ("\(getHead)Origin: null\r\nOrigin: null\r\n\r\n", .repeatedField),
        ("\(getHead)Content-Type: a/b\r\nContent-type: a/b\r\n\r\n", .repeatedField),
        ("\(getHead)If-Match: \"1\"\r\nIf-Match: \"2\"\r\n\r\n", .repeatedField),
        (
            "\(postHead)Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            .lengthAndEncoding
        ),
        ("\(postHead)Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", .transferEncoding),
        ("\(postHead)Transfer-Encoding: identity\r\n\r\n", .transferEncoding),
        (
            "\(postHead)Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            .transferEncoding
        ),
        (
            "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            .transferEncoding
        ),
        ("\(getHead)Bad Name: 1\r\n\r\n", .fieldName),
        ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", .fieldName),
        ("\(getHead)N(1): 1\r\n\r\n", .fieldName),
        ("\(getHead)X: a\u{1}b\r\n\r\n", .fieldValue),
        ("\(getHead)X: a\rb\r\n\r\n", .fieldValue),
        ("GET / HTTP/1.1\r\n\r\n", .missingHost),
        ("GET /a%00b HTTP/1.1\r\nHost: a\r\n\r\n", .target),
        ("GET /a?b=%00 HTTP/1.1\r\nHost: a\r\n\r\n", .target),
        ("GET /a\u{0}b HTTP/1.1\r\nHost: a\r\n\r\n", .target),
        ("GET /a\u{1F}b HTTP/1.1\r\nHost: a\r\n\r\n", .target),
        ("GET /a\u{7F} HTTP/1.1\r\nHost: a\r\n\r\n", .target),
        ("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", .target),
        ("G(T / HTTP/1.1\r\nHost: a\r\n\r\n", .method),
        ("\(getHead)" + String(repeating: "X: 1\r\n", count: 64) + "\r\n", .fieldCount),
    ]

    @Test(arguments: ambiguous)
    func `an ambiguous request is refused and the connection closed`(
        request: String, reason: RefusalReason
    ) throws {
        let server = try RunningServer(.echo)
        let (answer, closed) = server.exchange(request)
        #expect(answer?.status == reason.status.code)
        #expect(answer?.text == "{\"error\":\"\(reason.sentence)\"}")
        #expect(answer?.value("Content-Type") == "application/json; charset=utf-8")
        #expect(answer?.value("Connection") == "close")
        #expect(closed)
        #expect(server.refusals == [reason])
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
    ])
    func `a refusal of libmicrohttpd is counted`(
        request: String, status: Int
    ) throws {
        let server = try RunningServer(.echo)
        let (answer, closed) = server.exchange(request)
        #expect(answer?.status == status)
        #expect(closed)
        #expect(server.refusals == [.unreadable])
    }

    @Test func `a target too long is 414, a head too long 431`() throws {
        let server = try RunningServer(.echo)
        let long = String(repeating: "a", count: 40_000)
        let target = server.exchange("GET /\(long) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(target.answer?.status == 414)
        #expect(target.answer?.value("Content-Type") == "application/json; charset=utf-8")
        #expect(target.closed)
        let head = server.exchange("GET / HTTP/1.1\r\nHost: a\r\nX: \(long)\r\n\r\n")
        #expect(head.answer?.status == 431)
        #expect(head.answer?.text == "{\"error\":\"\(RefusalReason.headLength.sentence)\"}")
        #expect(head.closed)
        #expect(server.refusals == [.targetLength, .headLength])
    }

    @Test func `a target and a head up to their limits are accepted`() throws {
        let limits = Limits()
        let server = try RunningServer(limits: limits, .echo)
        let target = "/" + String(repeating: "a", count: limits.targetBytes - 1)
        // The names, the separators and the value of Host are counted as well.
        let used = "Host: a\r\n".utf8.count + "X: \r\n".utf8.count
        let value = String(repeating: "b", count: limits.headBytes - used)
        let answer = server.exchange("GET \(target) HTTP/1.1\r\nHost: a\r\nX: \(value)\r\n\r\n")
        #expect(answer.answer?.status == 200)
        let longer = server.exchange(
            "GET \(target) HTTP/1.1\r\nHost: a\r\nX: \(value)b\r\n\r\n")
        #expect(longer.answer?.status == 431)
    }

    @Test(arguments: [0, 24 * 1024])
    func `the longest request fits into a connection's memory beside the head of its answer`(
        more: Int
    ) throws {
        var limits = Limits()
        limits.answerHeadBytes += more
        let server = try RunningServer(
            limits: limits,
            TestHandler { _ in
                var fields = HTTPFields()
                for place in 0..<more / 512 {
                    guard let name = HTTPField.Name("X-\(place + 100)") else { continue }
                    fields[name] = String(repeating: "a", count: 512 - "X-100: \r\n".utf8.count)
                }
                return .now(Response(status: .ok, headerFields: fields))
            })
        let target = "/" + String(repeating: "a", count: limits.targetBytes - 1)
        let count = limits.headerFields - 1
        let size = (limits.headBytes - "Host: a\r\n".utf8.count) / count - "X: \r\n".utf8.count
        let fields = String(
            repeating: "X: \(String(repeating: "b", count: size))\r\n", count: count)
        let (answer, _) = server.exchange("GET \(target) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
        #expect(answer?.status == 200)
        #expect((answer?.value("X-147") != nil) == (more > 0))
    }

    @Test func `a head too long for libmicrohttpd is refused and counted`() throws {
        let server = try RunningServer(.echo)
        let long = String(repeating: "a", count: 200_000)
        #expect(server.exchange("GET /\(long) HTTP/1.1\r\nHost: a\r\n\r\n").closed)
        #expect(server.exchange("GET / HTTP/1.1\r\nHost: a\r\nX: \(long)\r\n\r\n").closed)
        server.server.stop()
        #expect(server.refusals == [.unreadable, .unreadable])
    }

    @Test func `bytes that are no request close the connection`() throws {
        let server = try RunningServer(.echo)
        for noise in ["\u{16}\u{3}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n"] {
            let (_, closed) = server.exchange(noise)
            #expect(closed)
        }
        #expect(server.exchange("GET / HTTP/1.1\r\nHost: h\r\n\r\n").answer?.status == 200)
        server.server.stop()
        #expect(server.refusals == [.unreadable, .unreadable, .unreadable])
    }

    @Test func `a connection without a byte is not counted as a refusal`() throws {
        let server = try RunningServer(.echo)
        do {
            let silent = server.client()
            silent.closeSending()
            let isClosed = silent.isClosed()
            #expect(isClosed)
        }
        server.server.stop()
        #expect(server.refusals.isEmpty)
    }

    @Test func `a request sent byte by byte is answered`() throws {
        let server = try RunningServer(.echo)
        let client = server.client()
        for byte in "PUT /s HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n".utf8 {
            client.send([byte])
        }
        for byte in "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: t\r\n\r\n".utf8 {
            client.send([byte])
        }
        #expect(
            client.answer()?.text == "PUT /s\nauthority h\nTransfer-Encoding: chunked\nabcde")
    }

    @Test func `an HTTP 1.0 client is answered and its connection closed`() throws {
        let server = try RunningServer(.echo)
        let (answer, closed) = server.exchange("GET /old HTTP/1.0\r\n\r\n")
        #expect(answer?.text == "GET /old\nauthority -\n")
        #expect(closed)
    }

    @Test func `a handler sees the connection's own address and port`() throws {
        let server = try RunningServer(
            TestHandler { .now(.text("\($0.connection.localAddress) \($0.connection.localPort)")) })
        let answer = server.exchange("GET / HTTP/1.1\r\nHost: h\r\n\r\n").answer
        #expect(answer?.text == "127.0.0.1 \(server.port)")
    }

    @Test(arguments: [
        "G", "GET / HTTP/1.1\r\nHost:", "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc",
    ])
    func `a request that does not end is cut after the request time`(start: String) throws {
        var limits = Limits()
        limits.requestSeconds = 1
        let server = try RunningServer(limits: limits, .echo)
        let client = server.client()
        client.send(start)
        let isClosed = client.isClosed()
        #expect(isClosed)
    }

    @Test func `a request that waits for its reply is not cut`() async throws {
        let (replies, replied) = AsyncStream.makeStream(of: Reply.self)
        var limits = Limits()
        limits.requestSeconds = 1
        let server = try RunningServer(
            limits: limits, TestHandler { _ in .later { replied.yield($0) } })
        let waiting = server.client()
        waiting.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        for await reply in replies.prefix(1) {
            let silent = server.client()
            let isClosed = silent.isClosed()
            #expect(isClosed)
            reply(.text("patience"))
        }
        #expect(waiting.answer()?.text == "patience")
    }

    @Test func `a head that stalls is cut after the idle time`() throws {
        var limits = Limits()
        limits.idleSeconds = 1
        let server = try RunningServer(limits: limits, .echo)
        let client = server.client()
        client.send("GET / HTTP/1.1\r\nHost:")
        let isClosed = client.isClosed()
        #expect(isClosed)
        #expect(server.refusals.isEmpty)
    }
}
