import Glibc
import HTTPClient
import HTTPMessage
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(1))) struct ReachTests {
    private static let unsafeMethods: [HTTPRequest.Method] = [.post, .patch, .put, .delete]
    private static let safeMethods: [HTTPRequest.Method] = [.get, .head, .options]

    /// Answers the first request of the first connection; then reads one more and closes unanswered.
    private func serverThatDiesOnReuse(byReset: Bool) throws -> ScriptedServer {
        try ScriptedServer { wire in
            guard wire.readRequest() != nil else { return }
            wire.write(ok("\(wire.number)"))
            guard wire.readRequest() != nil else { return }
            if wire.number == 1 {
                if byReset { wire.resetOnClose() }
                return
            }
            wire.write(ok("again"))
        }
    }

    @Test(arguments: unsafeMethods, [false, true])
    func `an unsafe request on a dying reused connection is sent once`(
        method: HTTPRequest.Method, byReset: Bool
    ) async throws {
        let server = try serverThatDiesOnReuse(byReset: byReset)
        try await withClient(of: server) { client in
            _ = try await client.send(server.request())
            let request = server.request(method, "/x", body: "{}")
            #expect(await failure(of: client, request)?.verdict == "reset maybeSent")
            #expect(server.requests.filter { $0.hasPrefix(method.rawValue) }.count == 1)
            // The next request is not affected.
            let status = try await client.send(server.request(.post, "/y")).head.status
            #expect(status == .ok)
        }
    }

    @Test(arguments: safeMethods)
    func `a safe request on a dying reused connection is sent again`(
        method: HTTPRequest.Method
    ) async throws {
        let server = try serverThatDiesOnReuse(byReset: false)
        try await withClient(of: server) { client in
            _ = try await client.send(server.request(.post))
            let status = try await client.send(server.request(method)).head.status
            #expect(status == .ok)
            #expect(server.requests.filter { $0.hasPrefix(method.rawValue) }.count == 2)
            #expect(server.connections == 2)
        }
    }

    @Test func `an idle connection that the server closed is not used`() async throws {
        let server = try ScriptedServer { wire in
            _ = wire.readRequest()
            wire.write(ok())
        }
        try await withClient(of: server) { client in
            for number in 1...3 {
                _ = try await client.send(server.request(.post))
                await server.wait(for: "end \(number)")
            }
            #expect(server.requests.count == 3)
        }
    }

    @Test(arguments: [true, false])
    func `a request that was read and not answered may have been sent`(
        byReset: Bool
    ) async throws {
        let server = try ScriptedServer { wire in
            _ = wire.readRequest()
            if byReset { wire.resetOnClose() }
        }
        try await withClient(of: server) { client in
            let error = await failure(of: client, server.request(.post, body: "{}"))
            #expect(error?.verdict == "reset maybeSent")
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a refused connection is not sent`() async throws {
        let server = try ScriptedServer(answering: { _ in ok() })
        server.close()
        let client = try CurlTransport()
        let error = await failure(of: client, server.request(.post))
        #expect(error?.verdict == "connect notSent")
        #expect(error?.message.contains("\(server.port)") == true)
        await client.stop()
    }

    @Test func `an unknown host is not sent`() async throws {
        let client = try CurlTransport()
        let head = HTTPRequest(
            method: .post, scheme: "http", authority: "nowhere.invalid", path: "/")
        let error = await failure(of: client, Request(head: head))
        #expect(error?.verdict == "resolve notSent")
        #expect(error?.message == "Could not resolve host: nowhere.invalid")
        await client.stop()
    }

    @Test func `a server that does not speak TLS is not sent`() async throws {
        let server = try ScriptedServer { wire in
            _ = wire.readSome()
            wire.write("HTTP/1.1 400 Bad Request\r\n\r\n")
        }
        try await withClient(of: server) { client in
            let error = await failure(of: client, server.request(.post, scheme: "https"))
            #expect(error?.verdict == "tls notSent")
        }
    }

    @Test func `a TLS handshake without end is a connect time-out`() async throws {
        let server = try ScriptedServer { $0.waitForClose() }
        try await withClient(of: server, .init(connectTimeout: .milliseconds(200))) { client in
            let error = await failure(of: client, server.request(.post, scheme: "https"))
            #expect(error?.verdict == "timeout notSent")
            await server.wait(for: "closed")
        }
    }

    @Test func `a server that takes no connection is a connect time-out`() async throws {
        let server = try ScriptedServer(backlog: 0) { _ in }
        // The queue of a listener with backlog 0 holds one connection; these fill it.
        let fill = ClientConfiguration(
            connectTimeout: .milliseconds(200), requestTimeout: .seconds(1))
        try await withClient(of: server, fill) { client in
            async let first = failure(of: client, server.request(.get))
            async let second = failure(of: client, server.request(.get))
            async let third = failure(of: client, server.request(.get))
            let verdicts = await [first, second, third].map { $0?.verdict }
            #expect(verdicts.contains("timeout notSent"), "\(verdicts)")
        }
    }

    @Test func `an answer that never begins is a time-out with the reach maybeSent`() async throws {
        let server = try ScriptedServer { wire in
            _ = wire.readRequest()
            wire.waitForClose()
        }
        try await withClient(of: server, .init(requestTimeout: .milliseconds(200))) { client in
            let error = await failure(of: client, server.request(.post))
            #expect(error?.verdict == "timeout maybeSent")
            await server.wait(for: "closed")
        }
    }

    /// Answers a byte every 5 ms; `bytes` of them, then nothing more.
    private func drip(_ bytes: Int) throws -> ScriptedServer {
        try ScriptedServer { wire in
            _ = wire.readRequest()
            wire.write("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n")
            for _ in 0..<bytes {
                wire.write("x")
                usleep(5_000)
            }
            wire.waitForClose()
        }
    }

    @Test func `a dripping answer is read to its end`() async throws {
        let server = try drip(50)
        try await withClient(of: server) { client in
            let count = try await client.send(server.request()).bytes?.count
            #expect(count == 50)
        }
    }

    @Test func `a dripping answer beyond the request time is a time-out`() async throws {
        let server = try drip(49)
        try await withClient(of: server, .init(requestTimeout: .milliseconds(150))) { client in
            let error = await failure(of: client, server.request(.post))
            #expect(error?.verdict == "timeout maybeSent")
        }
    }

    @Test func `an answer that stalls is given up before the request time`() async throws {
        let server = try drip(0)
        try await withClient(of: server, .init(stallTimeout: .seconds(1))) { client in
            let error = await failure(of: client, server.request(.post))
            #expect(error?.verdict == "timeout maybeSent")
        }
    }

    @Test func `the wait for a connection counts as request time`() async throws {
        let server = try ScriptedServer { wire in
            _ = wire.readRequest()
            wire.waitForClose()
        }
        let single = ClientConfiguration(
            requestTimeout: .milliseconds(400), maxConnectionsPerHost: 1)
        try await withClient(of: server, single) { client in
            async let first = failure(of: client, server.request(.post, "/1"))
            await server.wait(for: "POST /1")
            let start = ContinuousClock.now
            let verdicts = await withTaskGroup(of: String?.self) { group in
                for _ in 0..<20 {
                    group.addTask { await failure(of: client, server.request(.post))?.verdict }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(await first?.verdict == "timeout maybeSent")
            // Another request may get the free slot shortly before its deadline.
            #expect(verdicts.allSatisfy { $0?.hasPrefix("timeout") == true }, "\(verdicts)")
            #expect(ContinuousClock.now - start < .seconds(2))
        }
    }

    @Test func `the wait for a connection does not count as connect time`() async throws {
        let server = try ScriptedServer { wire in
            while wire.readRequest() != nil {
                usleep(200_000)
                wire.write(ok())
            }
        }
        let single = ClientConfiguration(
            connectTimeout: .milliseconds(300), maxConnectionsPerHost: 1)
        try await withClient(of: server, single) { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask { _ = try await client.send(server.request(.post)) }
                }
                try await group.waitForAll()
            }
            #expect(server.requests.count == 4)
        }
    }
}
