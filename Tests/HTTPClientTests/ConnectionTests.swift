import Foundation
import HTTPClient
import HTTPMessage
import HTTPServer
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(1))) struct ConnectionTests {
    @Test func `twenty requests in a row share one connection`() async throws {
        let server = try ScriptedServer(answering: { _ in ok("x") })
        try await withClient(of: server) { client in
            for number in 0..<20 {
                let request = server.request(number.isMultiple(of: 2) ? .post : .get)
                let text = try await client.send(request).text
                #expect(text == "x")
            }
            #expect(server.connections == 1)
        }
    }

    @Test func `a connection is not reused after Connection: close`() async throws {
        let server = try ScriptedServer(answering: { _ in ok(fields: "Connection: close\r\n") })
        try await withClient(of: server) { client in
            for _ in 0..<3 { _ = try await client.send(server.request(.post)) }
            #expect(server.connections == 3)
        }
    }

    @Test func `fifty at once are all answered over at most eight connections`() async throws {
        let server = try ScriptedServer(answering: { ok($0.bodyText) })
        try await withClient(of: server) { client in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        let request = server.request(.post, "/x", body: "\(number)")
                        return try await client.send(request).text == "\(number)"
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
            #expect((1...8).contains(server.connections))
            #expect(server.requests.count == 50)
        }
    }

    @Test func `with a Unix socket every request is sent to it, whatever its authority`()
        async throws
    {
        let path = "/tmp/understudy-\(UUID().uuidString).socket"
        let network = try ScriptedServer(answering: { _ in ok("network") })
        let server = Server(
            ServerConfiguration(addresses: [], unixSockets: [path], workers: 1),
            handler: Echo())
        _ = try server.start()
        let client = try CurlTransport(ClientConfiguration(unixSocket: path))
        let answer = try await client.send(network.request(.get, "/a"))
        #expect(answer.text == "127.0.0.1:\(network.port) unix")
        await server.stop()
        // If no process listens there, the network is not used.
        await #expect(throws: TransportError.self) {
            try await client.send(network.request(.get, "/a"))
        }
        #expect(network.connections == 0)
        await client.stop()
    }

    /// Answers with the requested host and the server that was reached.
    private struct Echo: HTTPHandler, RequestHandler {
        func admit(_ request: Request) -> Admission { .accept(bodyLimitBytes: 0) }

        func handle(_ request: Request) -> Answer {
            .now(
                Response(
                    status: .ok,
                    body: Array(
                        "\(request.head.authority ?? "") \(request.connection.localAddress)".utf8)))
        }
    }

    @Test func `a proxy is used where it is configured`() async throws {
        let proxy = try ScriptedServer(answering: { ok($0.headLines[0].description) })
        let server = try ScriptedServer(answering: { ok($0.headLines[0].description) })
        try await withClient(of: server) { client in
            let text = try await client.send(server.request(.get, "/a")).text
            #expect(text == "GET /a HTTP/1.1")
        }
        let through = ClientConfiguration(proxy: "http://127.0.0.1:\(proxy.port)")
        try await withClient(of: proxy, through) { client in
            let answer = try await client.send(server.request(.get, "/a?$b"))
            #expect(answer.text == "GET http://127.0.0.1:\(server.port)/a?$b HTTP/1.1")
        }
    }
}
