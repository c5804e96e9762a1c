import HTTPMessage
import HTTPServer
import HTTPTypes
import Testing

/// Heads after another one on the same connection: each is parsed by itself.
@Suite(.timeLimit(.minutes(1))) struct SameHeadTests {
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
        let alone = try #require(server.exchange("GET / HTTP/1.1\r\n\(fields)\r\n").answer)
        #expect(alone.status == 200)
        let second = try #require(client.answer())
        #expect((second.status, second.text) == (alone.status, alone.text))
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nHost: h\r\n\r\n", RefusalReason.repeatedField),
        ("GET /%00 HTTP/1.1\r\nHost: h\r\nX-A: 1\r\n\r\n", .target),
        ("G{T / HTTP/1.1\r\nHost: h\r\nX-A: 1\r\n\r\n", .method),
        ("GET / HTTP/1.1\r\nX-A: 1\r\n\r\n", .missingHost),
    ])
    func `an invalid head is refused after a valid one too`(
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
}
