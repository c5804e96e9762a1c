import HTTPMessage
import HTTPTypes
import Testing

@testable import HTTPServer

/// The total memory of request bodies, which is freed at every end of a request.
@Suite(.timeLimit(.minutes(1))) struct BodyMemoryTests {
    private static func limits(bytes: Int = 1 << 20) -> Limits {
        var limits = Limits()
        limits.bodiesBytes = bytes
        limits.smallBodyBytes = 1000
        // On a busy machine a test may take as long as a client may.
        limits.evictionSeconds = 100
        return limits
    }
    private static let counting = TestHandler { .now(.text("\($0.body.count)")) }

    /// A client that has sent so many bytes of a larger body.
    private func holder(_ server: RunningServer, _ bytes: Int) -> RawClient {
        let client = server.client()
        client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \(bytes + 10)\r\n\r\n")
        client.send([UInt8](repeating: 0x62, count: bytes))
        return client
    }

    private func post(_ server: RunningServer, _ bytes: Int) -> RawClient.Answer? {
        let client = holder(server, bytes)
        client.send([UInt8](repeating: 0x62, count: 10))
        return client.answer()
    }

    /// Polls until `bytes` are free: another thread reads what a client sends.
    private func wait(_ server: RunningServer, forFree bytes: Int) async {
        while server.server.freeBodyBytes != bytes, !Task.isCancelled { await Task.yield() }
        #expect(server.server.freeBodyBytes == bytes)
    }

    @Test func `a body beyond the total memory is answered 503, and a small one is accepted`()
        async throws
    {
        let server = try RunningServer(limits: Self.limits(bytes: 50_000), Self.counting)
        let held = holder(server, 41_000)
        await wait(server, forFree: 10_000)
        let refused = try #require(post(server, 20_000))
        #expect(refused.status == 503)
        #expect(refused.value("Retry-After") == "1")
        #expect(refused.text == #"{"error":"\#(RefusalReason.bodiesTooMany.sentence)"}"#)
        #expect(server.refusals == [.bodiesTooMany])
        // The memory of the refused body is free again, and a small body needs none.
        #expect(post(server, 10_000)?.text == "10010")
        #expect(post(server, 900)?.text == "910")
        held.send([UInt8](repeating: 0x62, count: 10))
        #expect(held.answer()?.text == "41010")
        await wait(server, forFree: 50_000)
    }

    @Test func `the memory of a body is freed when its client closes the connection`() async throws
    {
        let server = try RunningServer(limits: Self.limits(), Self.counting)
        do {
            let client = holder(server, 101_000)
            await wait(server, forFree: (1 << 20) - 100_000)
            client.closeSending()
        }
        await wait(server, forFree: 1 << 20)
    }

    @Test func `the memory of a body is freed after the idle time`() async throws {
        var limits = Self.limits()
        limits.idleSeconds = 1
        let server = try RunningServer(limits: limits, Self.counting)
        let client = holder(server, 101_000)
        let isClosed = client.isClosed()
        #expect(isClosed)
        await wait(server, forFree: 1 << 20)
    }

    @Test func `the memory of a body is freed when the body is too large`() async throws {
        let server = try RunningServer(
            limits: Self.limits(),
            TestHandler(
                admission: { _ in .accept(bodyLimitBytes: 5000) },
                answer: { .now(.text("\($0.body.count)")) }))
        let client = server.client()
        client.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        let piece = "fa0\r\n" + String(repeating: "b", count: 4000) + "\r\n"
        client.send(piece)
        await wait(server, forFree: (1 << 20) - 3000)
        client.send(piece)
        // Before the rest of the body has come.
        await wait(server, forFree: 1 << 20)
        client.send("0\r\n\r\n")
        #expect(client.answer()?.status == 413)
    }

    @Test func `the memory of a body is held until its request is answered`() async throws {
        let (replies, replied) = AsyncStream.makeStream(of: Reply.self)
        let server = try RunningServer(
            limits: Self.limits(), TestHandler { _ in .later { replied.yield($0) } })
        let client = holder(server, 101_000)
        client.send([UInt8](repeating: 0x62, count: 10))
        for await reply in replies.prefix(1) {
            #expect(server.server.freeBodyBytes == (1 << 20) - 100_010)
            reply(.text("taken"))
        }
        #expect(client.answer()?.text == "taken")
        #expect(server.server.freeBodyBytes == 1 << 20)
    }

    @Test func `a body that stalls is evicted for another one`() async throws {
        var limits = Self.limits(bytes: 50_000)
        limits.evictionSeconds = 0
        let server = try RunningServer(limits: limits, Self.counting)
        let stuck = holder(server, 41_000)
        await wait(server, forFree: 10_000)
        var answers = [post(server, 20_000)?.status]
        while answers.last == 503, !Task.isCancelled {
            answers.append(post(server, 20_000)?.status)
        }
        #expect(answers.first == 503)
        #expect(answers.last == 200)
        let isClosed = stuck.isClosed()
        #expect(isClosed)
        await wait(server, forFree: 50_000)
    }

    @Test func `a target with many query pairs is answered`() throws {
        let server = try RunningServer(.echo)
        for pairs in [899, 900, 5000, 16_000] {
            let target = "/x?" + String(repeating: "&", count: pairs)
            let (answer, closed) = server.exchange("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(answer?.status == 200)
            #expect(answer?.text.hasPrefix("GET \(target)\n") == true)
            #expect(!closed)
        }
    }
}
