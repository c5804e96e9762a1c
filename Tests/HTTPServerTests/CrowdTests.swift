import HTTPMessage
import HTTPServer
import HTTPTypes
import Testing

/// Clients at the limit of connections: useless ones are evicted, and others are served.
@Suite(.timeLimit(.minutes(1))) struct CrowdTests {
    private static let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

    private static func limits(connections: Int) -> Limits {
        var limits = Limits()
        limits.connections = connections
        limits.evictionSeconds = 1
        return limits
    }

    @Test func `slow senders on every connection do not block new clients`() throws {
        let server = try RunningServer(limits: Self.limits(connections: 4), .echo)
        let slow = (0..<4).map { _ in server.client() }
        for client in slow { client.send("GET / HTTP/1.1\r\nHost:") }
        for _ in 0..<3 {
            let other = server.client()
            other.send(Self.get)
            #expect(other.answer()?.status == 200)
        }
    }

    @Test func `connections that were never used do not delay new clients`() throws {
        var limits = Self.limits(connections: 4)
        limits.evictionSeconds = 1000
        let server = try RunningServer(limits: limits, .echo)
        let unused = (0..<20).map { _ in server.client() }
        let other = server.client()
        other.send(Self.get)
        #expect(other.answer()?.status == 200)
        // One that has begun its request, and one between two requests, are not unused.
        let slow = server.client()
        slow.send("GET / HTTP/1.1\r\nHost:")
        for _ in 0..<2 {
            let next = server.client()
            next.send(Self.get)
            #expect(next.answer()?.status == 200)
        }
        slow.send(" h\r\n\r\n")
        #expect(slow.answer()?.status == 200)
        #expect(unused.allSatisfy { $0.isClosed() })
    }

    @Test func `an answer closes its connection while others wait for a place`() async throws {
        let (replies, replied) = AsyncStream.makeStream(of: Reply.self)
        var limits = Self.limits(connections: 2)
        limits.evictionSeconds = 1000
        let server = try RunningServer(
            limits: limits, TestHandler { _ in .later { replied.yield($0) } })
        let clients = (0..<6).map { _ in server.client() }
        for client in clients { client.send(Self.get) }
        var answered = 0
        for await reply in replies {
            reply(.text("now"))
            answered += 1
            if answered == clients.count { break }
        }
        #expect(clients.allSatisfy { $0.answer()?.text == "now" })
    }

    @Test func `an idle connection is evicted, one that is being answered is not`() async throws {
        let (replies, replied) = AsyncStream.makeStream(of: Reply.self)
        let server = try RunningServer(
            limits: Self.limits(connections: 2),
            TestHandler { request in
                if request.path == "/later" { return .later { replied.yield($0) } }
                return .now(.text("now"))
            })
        let waiting = server.client()
        waiting.send("GET /later HTTP/1.1\r\nHost: h\r\n\r\n")
        let idle = server.client()
        idle.send(Self.get)
        #expect(idle.answer()?.text == "now")
        for await reply in replies.prefix(1) {
            let other = server.client()
            other.send(Self.get)
            #expect(other.answer()?.text == "now")
            let isClosed = idle.isClosed()
            #expect(isClosed)
            reply(.text("patience"))
        }
        #expect(waiting.answer()?.text == "patience")
    }

    @Test func `an answer that is not read is cut, and other clients are served meanwhile`() throws
    {
        var limits = Limits()
        limits.idleSeconds = 1
        let body = [UInt8](repeating: 0x61, count: 32 << 20)
        let watch = RequestWatch()
        let server = try RunningServer(
            workers: 1, limits: limits, observer: watch,
            TestHandler { request in
                .now(request.path == "/big" ? Response(status: .ok, body: body) : .text("small"))
            })
        let slow = server.client()
        slow.send("GET /big HTTP/1.1\r\nHost: h\r\n\r\n")
        let other = server.client()
        other.send(Self.get)
        #expect(other.answer()?.text == "small")
        // The answer was cut: only the bytes in the kernel's buffer arrive.
        #expect([watch.next(), watch.next()].contains { $0.head?.path == "/big" && !$0.isWhole })
        #expect(slow.answer() == nil)
    }

    @Test func `unread answers on every connection do not block new clients`() throws {
        let body = [UInt8](repeating: 0x61, count: 32 << 20)
        let server = try RunningServer(
            limits: Self.limits(connections: 4),
            TestHandler { request in
                .now(request.path == "/big" ? Response(status: .ok, body: body) : .text("small"))
            })
        let slow = (0..<4).map { _ in server.client() }
        for client in slow { client.send("GET /big HTTP/1.1\r\nHost: h\r\n\r\n") }
        for _ in 0..<3 {
            let other = server.client()
            other.send(Self.get)
            #expect(other.answer()?.text == "small")
        }
    }

    @Test func `idle streams keep their connections`() throws {
        let stream = ByteStream()
        let server = try RunningServer(
            limits: Self.limits(connections: 2),
            TestHandler { request in
                .now(
                    request.path == "/events"
                        ? Response(head: HTTPResponse(status: .ok), stream: stream)
                        : .text("small"))
            })
        let listening = server.client()
        listening.send("GET /events HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(listening.head()?.status == 200)
        stream.write(Array("one".utf8))
        #expect(listening.chunk() == Array("one".utf8))
        for _ in 0..<3 {
            let other = server.client()
            other.send(Self.get)
            #expect(other.answer()?.text == "small")
        }
        stream.write(Array("two".utf8))
        #expect(listening.chunk() == Array("two".utf8))
    }

    @Test func `streams of events leave the connections to others, up to a limit of their own`()
        throws
    {
        var limits = Self.limits(connections: 2)
        limits.eventStreams = 3
        let streams = (0..<4).map { _ in ByteStream() }
        let server = try RunningServer(
            limits: limits,
            TestHandler { request in
                guard let place = Int(request.path.dropFirst()) else { return .now(.text("small")) }
                return .now(
                    Response(
                        head: HTTPResponse(
                            status: .ok, headerFields: [.contentType: "text/event-stream"]),
                        stream: streams[place]))
            })
        let listening = streams.indices.map { place in
            let client = server.client()
            client.send("GET /\(place) HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(client.head()?.status == 200)
            return client
        }
        // The fourth one counts as a connection, so one is left.
        for _ in 0..<3 {
            let other = server.client()
            other.send(Self.get)
            #expect(other.answer()?.text == "small")
        }
        for (stream, client) in zip(streams, listening) {
            stream.write(Array("on".utf8))
            #expect(client.chunk() == Array("on".utf8))
            stream.finish()
            #expect(client.chunk() == [])
            // The connection counts again, and is served like any other.
            client.send(Self.get)
            #expect(client.answer()?.text == "small")
        }
    }

    @Test func `clients that close in mid-request do not block new clients`() throws {
        var limits = Self.limits(connections: 8)
        limits.evictionSeconds = 30
        let server = try RunningServer(limits: limits, .echo)
        for _ in 0..<100 { server.client().send("GET / HTTP/1.1\r\nHost:") }
        let other = server.client()
        other.send(Self.get)
        #expect(other.answer()?.status == 200)
    }
}
