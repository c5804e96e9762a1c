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

    /// No connection is evicted: time alone serves no client here.
    private static func patient(connections: Int) -> Limits {
        var limits = limits(connections: connections)
        limits.evictionSeconds = 1000
        return limits
    }
    private static let post = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n"

    @Test(arguments: ["GET / HTTP/1.1\r\nHost:", post + "ab", "", "G"])
    func `requests that do not arrive leave places to those that do`(part: String) throws {
        let server = try RunningServer(limits: Self.patient(connections: 16), .echo)
        let kept = server.client()
        kept.send(Self.get)
        #expect(kept.answer()?.status == 200)
        let slow = (0..<40).map { _ in server.client() }
        for client in slow { client.send(part) }
        for _ in 0..<8 {
            let other = server.client()
            other.send(Self.get)
            #expect(other.answer()?.status == 200)
            kept.send(Self.get)
            #expect(kept.answer()?.status == 200)
        }
        // One that goes on is served.
        for client in [slow[0], slow[39]] {
            let rest =
                part == "" || part == "G"
                ? String(Self.get.dropFirst(part.count))
                : part.hasPrefix("POST") ? "c" : " h\r\n\r\n"
            client.send(rest)
            #expect(client.answer()?.status == 200)
        }
    }

    @Test func `a whole request is served before slow ones of which much has arrived`() throws {
        let server = try RunningServer(limits: Self.patient(connections: 8), .echo)
        let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n"
        let slow = (0..<20).map { _ in server.client() }
        for client in slow {
            client.send(head)
            client.send([UInt8](repeating: 0x62, count: 40_000))
        }
        for _ in 0..<8 {
            let other = server.client()
            other.send(Self.post + "abc")
            #expect(other.answer()?.status == 200)
        }
    }

    @Test func `the slowest request that arrives is closed where more connections wait than may`()
        throws
    {
        var limits = Self.patient(connections: 2)
        limits.waitingConnections = 4
        let server = try RunningServer(limits: limits, .echo)
        let slow = (0..<12).map { _ in
            let client = server.client()
            client.send("GET / HTTP/1.1\r\nHost:")
            return client
        }
        let other = server.client()
        other.send(Self.get)
        #expect(other.answer()?.status == 200)
        // The first has a place, and so has nothing to give way for.
        #expect(slow[1...7].allSatisfy { $0.isClosed() })
        slow[0].send(" h\r\n\r\n")
        #expect(slow[0].answer()?.status == 200)
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
            limits: Self.limits(connections: 3),
            TestHandler { request in
                if request.path == "/later" { return .later { replied.yield($0) } }
                return .now(.text("now"))
            })
        let idle = server.client()
        idle.send(Self.get)
        #expect(idle.answer()?.text == "now")
        let waiting = (0..<2).map { _ in server.client() }
        for client in waiting { client.send("GET /later HTTP/1.1\r\nHost: h\r\n\r\n") }
        var held: [Reply] = []
        for await reply in replies {
            held.append(reply)
            if held.count < 2 { continue }
            let other = server.client()
            other.send(Self.get)
            #expect(other.answer()?.text == "now")
            let isClosed = idle.isClosed()
            #expect(isClosed)
            break
        }
        for reply in held { reply(.text("patience")) }
        #expect(waiting.allSatisfy { $0.answer()?.text == "patience" })
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
