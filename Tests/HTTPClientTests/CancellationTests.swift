import Foundation
import HTTPClient
import HTTPMessage
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(1))) struct CancellationTests {
    private func silentServer() throws -> ScriptedServer {
        try ScriptedServer { wire in
            _ = wire.readRequest()
            wire.waitForClose()
        }
    }

    @Test func `a task cancelled before it sends sends nothing`() async throws {
        let server = try ScriptedServer(answering: { _ in ok() })
        try await withClient(of: server) { client in
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                return await failure(of: client, server.request(.post))
            }
            task.cancel()
            #expect(await task.value?.verdict == "cancelled notSent")
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a cancellation after the request was sent has the reach maybeSent`() async throws {
        let server = try silentServer()
        try await withClient(of: server) { client in
            let task = Task { await failure(of: client, server.request(.post, "/slow")) }
            await server.wait(for: "POST /slow")
            task.cancel()
            #expect(await task.value?.verdict == "cancelled maybeSent")
            await server.wait(for: "closed")
        }
    }

    @Test func `a task cancelled while it waits for a connection sends nothing`() async throws {
        let server = try silentServer()
        try await withClient(of: server, .init(maxConnectionsPerHost: 1)) { client in
            let first = Task { await failure(of: client, server.request(.post, "/1")) }
            await server.wait(for: "POST /1")
            let second = Task { await failure(of: client, server.request(.post, "/2")) }
            second.cancel()
            #expect(await second.value?.verdict == "cancelled notSent")
            first.cancel()
            #expect(await first.value?.verdict == "cancelled maybeSent")
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a stop fails running and later requests`() async throws {
        let server = try silentServer()
        let client = try CurlTransport()
        let task = Task { await failure(of: client, server.request(.post, "/slow")) }
        await server.wait(for: "POST /slow")
        async let once: Void = client.stop()
        async let twice: Void = client.stop()
        _ = await (once, twice)
        #expect(await task.value?.verdict == "cancelled maybeSent")
        #expect(await failure(of: client, server.request())?.verdict == "cancelled notSent")
        await server.wait(for: "closed")
        server.close()
    }

    @Test func `the blocking stop fails running requests, and a second stop returns`()
        async throws
    {
        let server = try silentServer()
        let client = try CurlTransport()
        let task = Task { await failure(of: client, server.request(.post, "/slow")) }
        await server.wait(for: "POST /slow")
        await withCheckedContinuation { stopped in
            Thread {
                client.stop()
                client.stop()
                stopped.resume()
            }.start()
        }
        #expect(await task.value?.verdict == "cancelled maybeSent")
        await server.wait(for: "closed")
        server.close()
    }

    @Test func `a client ends its thread when it is released`() async throws {
        let server = try ScriptedServer { wire in
            _ = wire.readRequest()
            wire.write(ok())
            wire.waitForClose()
        }
        _ = try await CurlTransport().send(server.request())
        await server.wait(for: "closed")
        server.close()
    }

    @Test func `cancelling at any moment ends every send`() async throws {
        let server = try ScriptedServer(answering: { _ in ok("x") })
        try await withClient(of: server) { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let task = Task {
                            try await client.send(server.request())
                        }
                        for _ in 0..<(number % 20) { await Task.yield() }
                        task.cancel()
                        _ = await task.result
                    }
                }
                try await group.waitForAll()
            }
            let text = try await client.send(server.request()).text
            #expect(text == "x")
        }
    }
}
