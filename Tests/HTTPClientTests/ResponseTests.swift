import Foundation
import HTTPClient
import HTTPMessage
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(1))) struct ResponseTests {
    /// The result of `client` for one scripted answer, after which the server closes.
    private func receive(
        _ answer: String, method: HTTPRequest.Method = .get, fields: HTTPFields = [:],
        configuration: ClientConfiguration = .init(),
        check: (Result<Response, TransportError>) throws -> Void
    ) async throws {
        let server = try ScriptedServer { wire in
            _ = wire.readRequest()
            wire.write(answer)
        }
        try await withClient(of: server, configuration) { client in
            let request = server.request(method, fields: fields)
            do {
                try check(.success(await client.send(request)))
            } catch let error as TransportError {
                try check(.failure(error))
            }
        }
    }

    struct Good: Sendable, CustomTestStringConvertible {
        var name: String
        var answer: String
        var method = HTTPRequest.Method.get
        var status = 200
        var body = ""
        var testDescription: String { name }
    }

    @Test(arguments: [
        Good(name: "empty 200", answer: ok()),
        Good(name: "length", answer: ok("hello"), body: "hello"),
        Good(
            name: "chunked with trailer",
            answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "3\r\nhel\r\n2\r\nlo\r\n0\r\nX-Trailer: 1\r\n\r\n", body: "hello"),
        Good(name: "until close", answer: "HTTP/1.1 200 OK\r\n\r\nhello", body: "hello"),
        Good(name: "HTTP/1.0", answer: "HTTP/1.0 200 OK\r\n\r\nhello", body: "hello"),
        Good(name: "204", answer: "HTTP/1.1 204 No Content\r\n\r\n", status: 204),
        Good(
            name: "304", answer: "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
            status: 304),
        Good(
            name: "HEAD", answer: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", method: .head),
        Good(
            name: "1xx before",
            answer: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                + "HTTP/1.1 100 Continue\r\n\r\n" + ok("x", status: "201 Created"),
            status: 201, body: "x"),
        Good(
            name: "redirect", answer: ok("r", status: "302 Found", fields: "Location: /b\r\n"),
            status: 302, body: "r"),
        Good(name: "401", answer: ok("n", status: "401 No"), status: 401, body: "n"),
        Good(name: "500", answer: ok("e", status: "500 Oh"), status: 500, body: "e"),
    ])
    func `whole answers are returned as they are`(good: Good) async throws {
        try await receive(good.answer, method: good.method) { result in
            let response = try result.get()
            #expect(response.head.status.code == good.status)
            #expect(response.text == good.body)
            #expect(!response.head.headerFields.contains { $0.name.rawName == "Link" })
        }
    }

    @Test func `fields keep order, duplicates, bytes and folded lines`() async throws {
        let answer = ok(
            fields: "Set-Cookie: a=1\r\nX-b:  2 \r\nSet-Cookie: b=2\r\nX-Empty:\r\n"
                + "X-Latin: h\u{E9}\r\nX-Folded: one\r\n  two\r\n")
        try await receive(answer) { result in
            let fields = try result.get().head.headerFields
            #expect(
                fields.map { $0.name.rawName } == [
                    "Set-Cookie", "X-b", "Set-Cookie", "X-Empty", "X-Latin", "X-Folded",
                    "Content-Length",
                ])
            #expect(fields[values: .setCookie] == ["a=1", "b=2"])
            #expect(fields[1].value == "2")
            #expect(unsafe fields[4].withUnsafeBytesOfValue { unsafe Array($0) } == [0x68, 0xE9])
            #expect(fields[5].value == "one two")
        }
    }

    @Test(arguments: [
        ("length too long", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", "tornBody"),
        (
            "chunk cut", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhel",
            "tornBody"
        ),
        (
            "last chunk missing",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n", "tornBody"
        ),
        ("head cut", "HTTP/1.1 200 OK\r\nContent-Len", "tornBody"),
        ("head cut after a line", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", "tornBody"),
        ("only 100", "HTTP/1.1 100 Continue\r\n\r\n", "reset"),
        ("nothing", "", "reset"),
        ("not HTTP", "SSH-2.0-OpenSSH\r\n\r\n", "invalid"),
        ("status cut", "HTTP/1.1 2\r\n\r\n", "invalid"),
        (
            "two lengths",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 3\r\n\r\nhello", "invalid"
        ),
        (
            "101 with bytes", "HTTP/1.1 101 Switching Protocols\r\n\r\nhello", "invalid"
        ),
        (
            "garbled gzip", ok("not gzip", fields: "Content-Encoding: gzip\r\n"), "tornBody"
        ),
    ])
    func `an incomplete answer is never a response`(
        name: String, answer: String, cause: String
    ) async throws {
        try await receive(answer) { result in
            guard case .failure(let error) = result else {
                Issue.record("\(name) was taken for a response")
                return
            }
            #expect(error.verdict == "\(cause) maybeSent", "\(error.message)")
        }
    }

    /// gzip of `{"hello":"world"}`.
    private static let gzip = "H4sIAAAAAAACA6tWykjNyclXslIqzy/KSVGqBQDRQQnYEQAAAA=="

    @Test func `a gzip answer is decoded and loses its Content-Encoding`() async throws {
        let bytes = [UInt8](try #require(Data(base64Encoded: Self.gzip)))
        let answer = ok(String(latin1: bytes), fields: "Content-Encoding: gzip\r\n")
        try await receive(answer) { result in
            let response = try result.get()
            #expect(response.text == #"{"hello":"world"}"#)
            #expect(response.head.headerFields.isEmpty)
        }
        try await receive(answer, fields: [.range: "bytes=0-"]) { result in
            let response = try result.get()
            #expect(response.bytes == bytes)
            #expect(response.head.headerFields[.contentEncoding] == "gzip")
        }
    }

    @Test func `the limit on the body counts decoded bytes`() async throws {
        var limited = ClientConfiguration()
        limited.responseBodyLimitBytes = 16
        let encoded = [UInt8](try #require(Data(base64Encoded: Self.gzip)))
        for answer in [
            ok(String(repeating: "x", count: 17)),
            ok(String(latin1: encoded), fields: "Content-Encoding: gzip\r\n"),
        ] {
            try await receive(answer, configuration: limited) { result in
                #expect(throws: TransportError.self) { try result.get() }
                guard case .failure(let error) = result else { return }
                #expect(error.verdict == "tooLarge maybeSent")
            }
        }
        try await receive(ok(String(repeating: "x", count: 16)), configuration: limited) { result in
            let response = try result.get()
            #expect(response.bytes?.count == 16)
        }
    }

    /// A configuration, and the number of lines that fit into its limit.
    @Test(arguments: [
        (ClientConfiguration(responseHeadLimitBytes: 24 << 10), 24), (ClientConfiguration(), 259),
    ])
    func `a head of more than its limit is too large`(
        configuration: ClientConfiguration, most: Int
    ) async throws {
        let line = "X-Long: \(String(repeating: "y", count: 1_000))\r\n"
        func answer(_ lines: Int) -> String {
            ok("x", fields: String(repeating: line, count: lines))
        }
        try await receive(answer(most), configuration: configuration) { result in
            let text = try result.get().text
            #expect(text == "x")
        }
        try await receive(answer(most + 1), configuration: configuration) { result in
            guard case .failure(let error) = result else {
                Issue.record("a head of \(most + 1) lines was taken")
                return
            }
            #expect(error.verdict == "tooLarge maybeSent")
        }
    }
}
