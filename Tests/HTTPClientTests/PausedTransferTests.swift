import HTTPClient
import HTTPMessage
import HTTPTypes
import Testing

/// Transfers with slow callers, and other transfers.
@Suite(.timeLimit(.minutes(1))) struct PausedTransferTests {
    /// A server that answers `/big` with an endless body and other paths at once.
    private func server() throws -> ScriptedServer {
        try ScriptedServer { wire in
            while let request = wire.readRequest() {
                guard request.hasPrefix("GET /big") else {
                    wire.write(ok("small"))
                    continue
                }
                wire.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                let chunk = "10000\r\n" + String(repeating: "x", count: 65_536) + "\r\n"
                for _ in 0..<640 { wire.write(chunk) }
                wire.waitForClose()
            }
        }
    }

    /// Reads a stream to its end; nil if it fails.
    private func count(_ stream: ByteStream) async -> (bytes: Int, isTorn: Bool) {
        var total = 0
        while true {
            let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
            switch stream.read(maxBytes: 1 << 20, wake: { isReady.yield() }) {
            case .bytes(let bytes): total += bytes.count
            case .end: return (total, false)
            case .failed: return (total, true)
            case .wait: for await _ in ready { break }
            }
        }
    }

    @Test func `unread answers do not block other requests`() async throws {
        let server = try server()
        let narrow = ClientConfiguration(maxConnectionsPerHost: 2, maxPausedTransfers: 4)
        try await withClient(of: server, narrow) { client in
            var unread: [Response] = []
            for _ in 0..<4 { unread.append(try await client.open(server.request(.get, "/big"))) }
            // Twice as many answers as there are slots are not read.
            #expect(try await client.send(server.request(.get, "/x")).text == "small")
            #expect(try await client.open(server.request(.get, "/x")).head.status == .ok)
            for response in unread { response.stream?.cancel() }
        }
    }

    @Test func `of too many unread answers, the one unread for longest is given up`() async throws {
        let server = try server()
        let narrow = ClientConfiguration(maxConnectionsPerHost: 1, maxPausedTransfers: 2)
        try await withClient(of: server, narrow) { client in
            let first = try await client.open(server.request(.get, "/big"))
            let second = try await client.open(server.request(.get, "/big"))
            // Each gets a slot only when the one before it pauses.
            let third = try await client.open(server.request(.get, "/big"))
            #expect(try await client.send(server.request(.get, "/x")).text == "small")
            let stream = try #require(first.stream)
            let end = await count(stream)
            #expect(end.isTorn)
            second.stream?.cancel()
            third.stream?.cancel()
        }
    }

    @Test func `an endless answer fails at the limit`() async throws {
        let server = try server()
        let limited = ClientConfiguration(streamedBodyLimitBytes: 3_000_000)
        try await withClient(of: server, limited) { client in
            let response = try await client.open(server.request(.get, "/big"))
            let stream = try #require(response.stream)
            let end = await count(stream)
            #expect(end.isTorn)
            #expect((2_900_000...3_000_000).contains(end.bytes))
        }
    }
}

extension Response {
    fileprivate var stream: ByteStream? {
        if case .stream(let stream) = body { stream } else { nil }
    }
}
