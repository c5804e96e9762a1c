import Glibc
import HTTPMessage
import HTTPServer
import HTTPTypes
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct StreamTests {
    /// A handler that answers `/plain` at once and everything else with a stream given to the test.
    private static func streaming(
        capacityBytes: Int = 1 << 20, type: String = "text/event-stream"
    ) -> (TestHandler, AsyncStream<ByteStream>) {
        let (streams, started) = AsyncStream.makeStream(of: ByteStream.self)
        let handler = TestHandler { request in
            if request.path == "/plain" { return .now(.text("plain")) }
            let stream = ByteStream(capacityBytes: capacityBytes)
            started.yield(stream)
            let fields: HTTPFields = [.contentType: type]
            return .now(
                Response(head: HTTPResponse(status: .ok, headerFields: fields), stream: stream))
        }
        return (handler, streams)
    }
    private static let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
    private static let plain = "GET /plain HTTP/1.1\r\nHost: h\r\n\r\n"

    @Test func `events arrive as they are written, and the connection stays open`() async throws {
        let (handler, streams) = Self.streaming()
        let server = try RunningServer(handler)
        let client = server.client()
        client.send(Self.get)
        for await stream in streams.prefix(1) {
            let head = client.head()
            #expect(head?.value("Transfer-Encoding") == "chunked")
            #expect(head?.value("Content-Type") == "text/event-stream")
            for index in 0..<200 {
                let event = Array("data: \(index)\n\n".utf8)
                #expect(stream.write(event))
                #expect(client.chunk() == event)
            }
            stream.finish()
            #expect(client.chunk() == [])
        }
        client.send(Self.plain)
        #expect(client.answer()?.text == "plain")
    }

    @Test func `a long stream is whole`() async throws {
        let (handler, streams) = Self.streaming(capacityBytes: 8 << 20)
        let server = try RunningServer(handler)
        let sent = (0..<(5 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
        let client = server.client()
        client.send(Self.get)
        for await stream in streams.prefix(1) {
            stream.write(Array(sent[..<1000]))
            stream.write(Array(sent[1000...]))
            stream.finish()
        }
        #expect(client.answer()?.body == sent)
    }

    @Test func `a stream that fails before its first byte closes the connection without a head`()
        throws
    {
        let server = try RunningServer(
            TestHandler { _ in
                let stream = ByteStream()
                stream.fail()
                return .now(Response(head: HTTPResponse(status: .ok), stream: stream))
            })
        let client = server.client()
        client.send(Self.get)
        #expect(client.head() == nil)
        let isClosed = client.isClosed()
        #expect(isClosed)
    }

    @Test func `a stream to HEAD is cancelled, its head sent and the connection closed`()
        async throws
    {
        let (handler, streams) = Self.streaming()
        let server = try RunningServer(handler)
        let client = server.client()
        client.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n" + Self.plain)
        #expect(client.answer(toHead: true)?.value("Content-Type") == "text/event-stream")
        let isClosed = client.isClosed()
        #expect(isClosed)
        for await stream in streams.prefix(1) { #expect(!stream.write([1])) }
    }

    @Test func `an HTTP 1.0 client reads a stream until the connection closes`() async throws {
        let (handler, streams) = Self.streaming()
        let server = try RunningServer(handler)
        let client = server.client()
        client.send("GET / HTTP/1.0\r\n\r\n")
        for await stream in streams.prefix(1) {
            stream.write(Array("abc".utf8))
            stream.finish()
        }
        #expect(client.head()?.value("Transfer-Encoding") == nil)
        #expect(client.bytes(3) == Array("abc".utf8))
        #expect(client.head() == nil)
    }

    @Test(arguments: [0, 3])
    func `a writer is called back at once when its idle client closes`(written: Int) async throws {
        let (handler, streams) = Self.streaming()
        let server = try RunningServer(handler)
        let (gone, went) = AsyncStream.makeStream(of: Void.self)
        do {
            let client = server.client()
            client.send(Self.get)
            for await stream in streams.prefix(1) {
                stream.onCancel { went.yield() }
                for _ in 0..<written { stream.write([65]) }
            }
            #expect(client.head()?.status == 200)
            if written > 0 { #expect(client.chunk()?.first == 65) }
        }
        for await _ in gone.prefix(1) {}
        #expect(server.exchange(Self.plain).answer?.text == "plain")
    }

    @Test func `a client that closes its side reads an answer to its end`() async throws {
        let (handler, streams) = Self.streaming(type: "text/plain")
        var limits = Limits()
        limits.halfClosedSeconds = 600
        let server = try RunningServer(limits: limits, handler)
        let client = server.client()
        client.send(Self.get)
        client.closeSending()
        for await stream in streams.prefix(1) {
            #expect(client.head()?.status == 200)
            for byte in 65...67 as ClosedRange<UInt8> {
                stream.write([byte])
                #expect(client.chunk() == [byte])
            }
            stream.finish()
            #expect(client.chunk() == [])
        }
    }

    @Test func `an answer without a byte is given up some time after its client has closed`()
        async throws
    {
        let (handler, streams) = Self.streaming(type: "text/plain")
        var limits = Limits()
        limits.halfClosedSeconds = 1
        let server = try RunningServer(limits: limits, handler)
        let (gone, went) = AsyncStream.makeStream(of: Void.self)
        do {
            let client = server.client()
            client.send(Self.get)
            for await stream in streams.prefix(1) { stream.onCancel { went.yield() } }
            #expect(client.head()?.status == 200)
        }
        for await _ in gone.prefix(1) {}
        #expect(server.exchange(Self.plain).answer?.text == "plain")
    }

    @Test func `requests that do not end are cut in time beside a client that has closed its side`()
        async throws
    {
        let (handler, streams) = Self.streaming(type: "text/plain")
        var limits = Limits()
        limits.halfClosedSeconds = 600
        limits.requestSeconds = 1
        let server = try RunningServer(limits: limits, handler)
        let client = server.client()
        client.send(Self.get)
        for await stream in streams.prefix(1) {
            #expect(client.head()?.status == 200)
            client.closeSending()
            for start in ["", "GET / HTTP/1.1\r\nHost:"] {
                let slow = server.client()
                slow.send(start)
                let isClosed = slow.isClosed()
                #expect(isClosed)
            }
            stream.write([65])
            #expect(client.chunk() == [65])
            stream.finish()
            #expect(client.chunk() == [])
        }
    }

    @Test func `120 idle streams cost no thread and each gets its bytes`() async throws {
        let (handler, streams) = Self.streaming()
        var limits = Limits()
        limits.connections = 256
        let server = try RunningServer(limits: limits, handler)
        let before = ProcessThreads.count
        let clients = (0..<120).map { _ in server.client() }
        var open: [ByteStream] = []
        for client in clients {
            client.send(Self.get)
            #expect(client.head()?.status == 200)
        }
        for await stream in streams.prefix(120) { open.append(stream) }
        // Other tests run in this process, so the bound is far below one thread for each stream.
        #expect(ProcessThreads.count < before + 60)
        #expect(server.exchange(Self.plain).answer?.text == "plain")
        for (index, stream) in open.enumerated() { stream.write(Array("event \(index)".utf8)) }
        var events: Set<String> = []
        for client in clients {
            let chunk = client.chunk()
            events.insert(String(decoding: chunk ?? [], as: UTF8.self))
        }
        #expect(events == Set((0..<120).map { "event \($0)" }))
    }
}

/// The threads of this process.
private enum ProcessThreads {
    static var count: Int {
        guard let folder = unsafe opendir("/proc/self/task") else { return 0 }
        defer { unsafe closedir(folder) }
        var count = -2  // "." and ".."
        while unsafe readdir(folder) != nil { count += 1 }
        return count
    }
}
