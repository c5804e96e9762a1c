import HTTPClient
import HTTPMessage
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(1))) struct ExactBytesTests {
    @Test(arguments: [
        "/tables/todoitem?$filter=(complete%20eq%20false)%20and%20id%20eq%20'1'&$top=50",
        "/a/../b/./c", "//evil.example/x", "/%2e%2e/%2F/x", "/x?a=[1]|\"{}\\^`<>", "/x#y?z",
        "/\u{FC}?\u{1F600}", "/x?", "/?%zz%",
    ])
    func `the target arrives byte for byte`(path: String) async throws {
        let server = try ScriptedServer { wire in
            while let request = wire.readRequest() {
                wire.write(ok(request.headLines[0].description))
            }
        }
        try await withClient(of: server) { client in
            _ = try await client.send(server.request(.get, path))
            let latin1 = String(latin1: Array("GET \(path) HTTP/1.1".utf8))
            #expect(server.requests[0].headLines[0] == latin1)
        }
    }

    static let methods: [HTTPRequest.Method] = [
        .get, .post, .patch, .put, .delete, .options, .head,
    ]

    @Test(arguments: methods, [false, true])
    func `every method is sent with and without a body, and nothing is added`(
        method: HTTPRequest.Method, hasBody: Bool
    ) async throws {
        let server = try ScriptedServer(answering: { _ in ok() })
        try await withClient(of: server) { client in
            let body = hasBody ? #"{"a":1}"# : ""
            if method == .head && hasBody {
                let refused = await failure(of: client, server.request(.head, "/x", body: body))
                #expect(refused?.verdict == "invalid notSent")
                return
            }
            let response = try await client.send(server.request(method, "/x", body: body))
            #expect(response.head.status == .ok)
            let seen = server.requests[0]
            let expectsContent = [.post, .patch, .put].contains(method)
            let length = hasBody ? "7" : expectsContent ? "0" : nil
            #expect(seen.headLines[0] == "\(method.rawValue) /x HTTP/1.1")
            #expect(seen.field("content-length") == length)
            #expect(seen.bodyText == body)
            let names = Set(seen.headLines.dropFirst().map { $0.prefix { $0 != ":" } })
            let added: Set<Substring> = length == nil ? [] : ["Content-Length"]
            #expect(names == added.union(["Host", "User-Agent", "Accept-Encoding"]))
            #expect(seen.field("user-agent") == "understudy")
            #expect(seen.field("host") == "127.0.0.1:\(server.port)")
        }
    }

    @Test func `fields arrive as given and framing fields do not`() async throws {
        let server = try ScriptedServer(answering: { _ in ok() })
        var fields = HTTPFields()
        let given: [(String, String)] = [
            ("ZUMO-API-VERSION", "2.0.0"), ("X-Two", "b"), ("X-Two", "a"), ("X-Empty", ""),
            ("Accept", "text/html"), ("Content-Type", "application/json"),
            ("User-Agent", "mine/1"), ("If-Match", "\"AAA=\""), ("Prefer", "h\u{E9}"),
        ]
        let owned = [("Host", "evil"), ("Content-Length", "99"), ("Transfer-Encoding", "chunked")]
        for (name, value) in given + owned + [("Connection", "close"), ("Expect", "100-continue")] {
            fields.append(HTTPField(name: try #require(.init(name)), value: value))
        }
        try await withClient(of: server) { client in
            _ = try await client.send(server.request(.post, "/x", fields: fields, body: "{}"))
            let seen = server.requests[0]
            let lines = seen.headLines.dropFirst().map { String($0) }
            for (name, value) in given where !value.isEmpty {
                #expect(lines.contains("\(name): \(String(latin1: Array(value.utf8)))"))
            }
            #expect(lines.contains("X-Empty:"))
            #expect(lines.filter { $0.hasPrefix("X-Two") } == ["X-Two: b", "X-Two: a"])
            #expect(seen.field("host") == "127.0.0.1:\(server.port)")
            #expect(seen.field("content-length") == "2")
            for name in ["transfer-encoding", "connection", "expect"] {
                #expect(seen.field(name) == nil)
            }
            #expect(lines.filter { $0.lowercased().hasPrefix("user-agent") }.count == 1)
        }
    }

    @Test func `a body of two million bytes is sent whole, without Expect`() async throws {
        let server = try ScriptedServer(answering: { request in
            ok("\(request.bodyText.unicodeScalars.count)")
        })
        try await withClient(of: server) { client in
            let body = String(repeating: "x", count: 2_000_000)
            let response = try await client.send(server.request(.post, "/", body: body))
            #expect(response.text == "2000000")
            #expect(server.requests[0].field("expect") == nil)
        }
    }

    @Test(arguments: [
        ("ftp", "127.0.0.1", "/"), ("http", "", "/"), ("http", "user@127.0.0.1", "/"),
        ("http", "a/b", "/"), ("http", "a b", "/"), ("http", "127.0.0.1", "x"),
        ("http", "127.0.0.1", "/a b"), ("http", "127.0.0.1", "/a\r\nX: y"),
        ("http", "127.0.0.1", "http://evil/"), ("http", "127.0.0.1:99999", "/"),
        ("http", "127.0.0.1", "/a\u{0}b"),
    ])
    func `a request that cannot be sent fails with the reach notSent`(
        scheme: String, authority: String, path: String
    ) async throws {
        let client = try CurlTransport()
        let head = HTTPRequest(
            method: .get, scheme: scheme, authority: authority, path: path)
        #expect(await failure(of: client, Request(head: head))?.verdict == "invalid notSent")
        await client.stop()
    }
}
