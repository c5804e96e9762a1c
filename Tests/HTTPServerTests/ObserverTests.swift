import HTTPMessage
import HTTPServer
import HTTPTypes
import Testing

/// The reports to an observer about requests that have ended.
@Suite(.timeLimit(.minutes(1))) struct ObserverTests {
    private static let handler = TestHandler(
        admission: { request in
            request.path == "/no"
                ? .refuse(.text("no", status: .forbidden)) : .accept(bodyLimitBytes: 10)
        },
        answer: { request in
            switch request.path {
            case "/later": return .later { $0(.text("later")) }
            case "/stream", "/torn":
                let stream = ByteStream()
                stream.write(Array("streamed".utf8))
                if request.path == "/torn" { stream.fail() } else { stream.finish() }
                return .now(Response(head: HTTPResponse(status: .ok), stream: stream))
            default: return .now(.text("now"))
            }
        })

    private func observed(_ text: String) throws -> EndedRequest {
        let watch = RequestWatch()
        let server = try RunningServer(observer: watch, Self.handler)
        let client = server.client()
        client.send(text)
        _ = client.answer(toHead: text.hasPrefix("HEAD"))
        return watch.next()
    }

    @Test(arguments: [
        ("GET", "/now", HTTPResponse.Status.ok, 3), ("HEAD", "/now", .ok, 0),
        ("GET", "/later", .ok, 5), ("GET", "/stream", .ok, 8), ("GET", "/no", .forbidden, 2),
    ])
    func `each kind of answer is reported with head, status and bytes`(
        method: String, path: String, status: HTTPResponse.Status, bytes: Int
    ) throws {
        let ended = try observed(
            "\(method) \(path)?a=b HTTP/1.1\r\nHost: h\r\nX-A: 1\r\n\r\n")
        #expect(ended.head?.method.rawValue == method)
        #expect(ended.head?.path == "\(path)?a=b")
        #expect(ended.head?.headerFields.count == 1)
        #expect(ended.status == status)
        #expect(ended.bodyBytes == bytes)
        #expect(ended.isWhole && ended.duration > .zero)
    }

    @Test func `an incomplete answer is reported as incomplete`() throws {
        let ended = try observed("GET /torn HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(ended.status == .ok && !ended.isWhole)
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\n\r\n", HTTPResponse.Status.badRequest, false),
        (
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n01234567890", .contentTooLarge,
            true
        ),
    ])
    func `a refusal of the server is reported`(
        text: String, status: HTTPResponse.Status, hasHead: Bool
    ) throws {
        let ended = try observed(text)
        #expect(ended.status == status)
        #expect((ended.head != nil) == hasHead)
    }

    @Test func `a request is not reported when the observer did not watch at its beginning`() throws
    {
        let watch = RequestWatch()
        let server = try RunningServer(observer: watch, Self.handler)
        let client = server.client()
        for isWatching in [false, true, false] {
            watch.look(isWatching)
            client.send("GET /\(isWatching) HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(client.answer()?.text == "now")
        }
        // The stop waits until every request has ended.
        server.server.stop()
        #expect(watch.all.map(\.head?.path) == ["/true"])
    }
}
