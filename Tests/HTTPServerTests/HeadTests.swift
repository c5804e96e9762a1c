import HTTPMessage
import HTTPServer
import HTTPTypes
import Synchronization
import Testing

/// Heads that two readers could end in two places, or take for different requests.
@Suite(.timeLimit(.minutes(1))) struct HeadTests {
    private static let next = "DELETE /2 HTTP/1.1\r\nHost: h\r\n\r\n"

    /// What one connection led to.
    private struct Outcome: Equatable {
        var status: Int?
        var text: String?
        /// The connection closed right after this answer.
        var isLast: Bool
        /// The targets that the handler was asked about.
        var asked: [String]
        var refusals: [RefusalReason]

        static func refused(_ reason: RefusalReason) -> Outcome {
            Outcome(
                status: 400, text: "{\"error\":\"\(reason.sentence)\"}", isLast: true, asked: [],
                refusals: [reason])
        }
    }

    /// The targets of requests, in order.
    private final class Targets: Sendable {
        private let targets = Mutex<[String]>([])
        var all: [String] { targets.withLock { $0 } }
        func append(_ target: String) { targets.withLock { $0.append(target) } }
    }

    private func handler(_ targets: Targets) -> TestHandler {
        TestHandler(
            admission: { request in
                targets.append(request.head.path ?? "-")
                return .accept(bodyLimitBytes: 100)
            },
            answer: { request in .now(.text(String(decoding: request.body, as: UTF8.self))) })
    }

    /// Sends `text` on a connection of its own, which the server must close.
    private func outcome(of text: String) throws -> Outcome {
        let targets = Targets()
        let server = try RunningServer(handler(targets))
        let client = server.client()
        client.send(text)
        let answer = client.answer()
        let isLast = client.isClosed()
        return Outcome(
            status: answer?.status, text: answer?.text, isLast: isLast, asked: targets.all,
            refusals: server.refusals)
    }

    @Test(arguments: [
        (": x\r\n", RefusalReason.brokenHead), (":\r\n", .brokenHead), (":: x\r\n", .brokenHead),
        ("\0abc: x\r\n", .brokenHead), ("\0\r\n", .brokenHead), ("\0: x\n", .brokenHead),
        ("X: a\0b\r\n", .brokenHead), ("X: a\0\r\n", .brokenHead), ("X:\0\r\n", .brokenHead),
        ("X: a\n", .brokenHead), ("X:\n", .brokenHead), ("\n", .brokenHead),
        ("X: a\r\n b\r\n", .brokenHead), ("X: a\r\n\tb\r\n", .brokenHead),
        ("X: a\r\n \r\n", .brokenHead), (" \r\n", .brokenHead), ("\t\r\n", .brokenHead),
        (" X: a\r\n", .fieldName), ("X : a\r\n", .fieldName), ("\r: a\r\n", .fieldName),
        ("X: a\r\r\n", .fieldValue), ("X: a\rY: b\r\n", .fieldValue),
    ])
    func `a line that is not one field is refused, and what follows is not executed`(
        line: String, reason: RefusalReason
    ) throws {
        let text = "GET /1 HTTP/1.1\r\nHost: h\r\n\(line)\r\n\(Self.next)"
        #expect(try outcome(of: text) == Outcome.refused(reason))
    }

    @Test(arguments: [
        ("GET /1 HTTP/1.1\nHost: h\r\n\r\n", RefusalReason.brokenHead),
        ("GET /1 HTTP/1.1\nHost: h\n\n", .brokenHead),
        ("GET /1 HTTP/1.1\r\nHost: h\r\n\n", .brokenHead),
        ("GET /1 HTTP/1.0\r\n\n", .brokenHead), ("GET /1 HTTP/1.0\n\r\n", .brokenHead),
        ("GET  /1 HTTP/1.1\r\nHost: h\r\n\r\n", .brokenHead),
        ("G\0ET /1 HTTP/1.1\r\nHost: h\r\n\r\n", .brokenHead),
        ("GET /1 HTTP/1.1\r\n\0: x\r\nHost: h\r\n\r\n", .brokenHead),
        ("GET /1 HTTP/1.1\r\n: x\r\nHost: h\r\n\r\n", .fieldName),
        ("GET /1 HTTP/1.1\r\n X: 1\r\nHost: h\r\n\r\n", .fieldName),
        ("GET /1  HTTP/1.1\r\nHost: h\r\n\r\n", .target),
        ("GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n", .target),
    ])
    func `a request line and a first line that are not whole are refused`(
        text: String, reason: RefusalReason
    ) throws {
        #expect(try outcome(of: text + Self.next) == Outcome.refused(reason))
    }

    @Test(arguments: [
        "GET tables/todos", "GET ?x=1", "GET *", "GET http://h/1", "GET \\1", "CONNECT h:80",
        "OPTIONS h",
    ])
    func `a target without a slash at its beginning is refused`(line: String) throws {
        let seen = try outcome(of: "\(line) HTTP/1.1\r\nHost: h\r\n\r\n\(Self.next)")
        #expect(seen == Outcome.refused(.target))
    }

    @Test(arguments: [
        "", "  ", "a b", "a/b", "<script>", "a,b", "a, b", "u@h", "h?x", "h#x", "é", "%41",
        "::1", "[::1", "[::1]x", "[h]", "[127.0.0.1]", "[::1%25lo]", "[]", "[::1]:x",
        ":80", "h:80:80", "h:x", "h:-1", "h:+1", "h:65536", "h:99999999", "h:80 80",
    ])
    func `a Host that is no name or address with a port is refused`(host: String) throws {
        let text = "GET /1 HTTP/1.1\r\nHost: \(host)\r\n\r\n\(Self.next)"
        #expect(try outcome(of: text) == Outcome.refused(.malformedHost))
        let old = "GET /1 HTTP/1.0\r\nHost: \(host)\r\n\r\n\(Self.next)"
        #expect(try outcome(of: old) == Outcome.refused(.malformedHost))
    }

    @Test(arguments: [
        "h", "H.Example", "a-b_c.d~e.", "127.0.0.1", "h:80", "h:", "127.0.0.1:65535", "[::1]",
        "[::1]:80", "[::ffff:127.0.0.1]:80", "xn--bcher-kva.example:8080",
    ])
    func `a Host that is a name or an address reaches the handler`(host: String) throws {
        let server = try RunningServer(.echo)
        let answer = server.exchange("GET /1 HTTP/1.1\r\nHost: \(host)\r\n\r\n").answer
        #expect(answer?.text == "GET /1\nauthority \(host)\n")
    }

    @Test(arguments: [
        "X:1\r\n", "X:\r\n", "X:  \r\n", "X: \t a  \t \r\n", "X: a:b\r\n",
        "Cookie: a=b; c=\"d\", e\r\n",
        "Cookie:\r\nX: 1\r\n", "X: é\r\n", "X: 1\r\nX: 1\r\nY:\r\nZ: \r\n", "",
    ])
    func `blanks and empty values are accepted, and the next request is read`(fields: String) throws
    {
        let targets = Targets()
        let server = try RunningServer(handler(targets))
        let client = server.client()
        // Empty lines before a request are no part of it (RFC 9112, 2.2).
        client.send("GET /1 HTTP/1.1\r\nHost: h\r\n\(fields)\r\n\r\n\r\n\(Self.next)")
        let statuses = [client.answer()?.status, client.answer()?.status]
        #expect(statuses == [200, 200])
        #expect(targets.all == ["/1", "/2"])
        #expect(server.refusals == [])
    }

    @Test func `blanks behind a Host are no part of it`() throws {
        let server = try RunningServer(.echo)
        let answer = server.exchange("GET /1 HTTP/1.1\r\nHost:\th \t\r\n\r\n").answer
        #expect(answer?.text == "GET /1\nauthority h\n")
    }

    @Test func `a star is a target of OPTIONS`() throws {
        let server = try RunningServer(.echo)
        let answer = server.exchange("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n").answer
        #expect(answer?.text == "OPTIONS *\nauthority h\n")
    }

    @Test(arguments: ["A: b\r\n", "A: b\r\n: x\r\n", "A: b\r\n\0abc: x\r\n", "A: b\r\n\0\r\n"])
    func `fields behind a body end the connection, and what follows is not executed`(
        trailer: String
    ) throws {
        let head = "POST /1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        let seen = try outcome(of: "\(head)2\r\nab\r\n0\r\n\(trailer)\r\n\(Self.next)")
        #expect(
            seen
                == Outcome(status: 200, text: "ab", isLast: true, asked: ["/1"], refusals: []))
    }

    @Test func `a body in chunks without fields behind it keeps the connection`() throws {
        let targets = Targets()
        let server = try RunningServer(handler(targets))
        let client = server.client()
        let head = "POST /1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        client.send("\(head)2\r\nab\r\n0\r\n\r\n\(Self.next)")
        #expect(client.answer()?.text == "ab")
        #expect(client.answer()?.status == 200)
        #expect(targets.all == ["/1", "/2"])
    }
}
