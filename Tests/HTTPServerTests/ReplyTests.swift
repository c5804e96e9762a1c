import Dispatch
import HTTPMessage
import HTTPTypes
import Synchronization
import Testing

@testable import HTTPServer

@Suite(.timeLimit(.minutes(1))) struct ReplyTests {
    /// A handler that gives each reply, with its path, to the test.
    private static func waiting() -> (TestHandler, AsyncStream<(Reply, String)>) {
        let (replies, replied) = AsyncStream.makeStream(of: (Reply, String).self)
        let handler = TestHandler { request in
            .later { replied.yield(($0, request.head.path ?? "")) }
        }
        return (handler, replies)
    }

    @Test func `32 waiting requests are answered from other threads, each with its own reply`()
        async throws
    {
        let (handler, replies) = Self.waiting()
        let server = try RunningServer(handler)
        for round in 0..<5 {
            let clients = (0..<32).map { _ in server.client() }
            for (index, client) in clients.enumerated() {
                client.send("GET /\(round)/\(index) HTTP/1.1\r\nHost: h\r\n\r\n")
            }
            var waiting: [(Reply, String)] = []
            for await reply in replies.prefix(32) { waiting.append(reply) }
            #expect(server.server.openRequests == 32)
            let all = waiting
            DispatchQueue.concurrentPerform(iterations: 32) { index in
                all[index].0(.text(all[index].1))
            }
            for (index, client) in clients.enumerated() {
                #expect(client.answer()?.text == "/\(round)/\(index)")
            }
        }
    }

    @Test func `a reply at once, on the handler's own thread, needs no suspension`() throws {
        let server = try RunningServer(TestHandler { _ in .later { $0(.text("now")) } })
        let client = server.client()
        for _ in 0..<100 {
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(client.answer()?.text == "now")
        }
    }

    @Test func `a reply that races with its suspension arrives`() throws {
        let queue = DispatchQueue(label: "replies", attributes: .concurrent)
        let server = try RunningServer(
            TestHandler { _ in .later { reply in queue.async { reply(.text("raced")) } } })
        let client = server.client()
        for _ in 0..<2000 {
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(client.answer()?.text == "raced")
        }
    }

    @Test func `the second of two replies does nothing`() async throws {
        let (handler, replies) = Self.waiting()
        let server = try RunningServer(handler)
        let client = server.client()
        for round in 0..<2 {
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            for await (reply, _) in replies.prefix(1) {
                reply(.text("first \(round)"))
                reply(.text("second"))
                #expect(client.answer()?.text == "first \(round)")
                let stream = ByteStream()
                reply(Response(head: .init(status: .ok), stream: stream))
                #expect(!stream.write([1]))
            }
        }
    }

    @Test func `a dropped reply is answered 500`() throws {
        let server = try RunningServer(TestHandler { _ in .later { _ in } })
        let (answer, closed) = server.exchange("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(answer?.status == 500)
        #expect(!closed)
    }

    @Test func `a reply reports whether its client has closed or was answered`() async throws {
        let (handler, replies) = Self.waiting()
        let server = try RunningServer(handler)
        var leaving: RawClient? = server.client()
        leaving?.send("GET /gone HTTP/1.1\r\nHost: h\r\n\r\n")
        for await (reply, _) in replies.prefix(1) {
            let changed = reply.map { $0 }
            #expect(!reply.clientHasLeft && !changed.clientHasLeft)
            leaving = nil
            while !reply.clientHasLeft { await Task.yield() }
            #expect(changed.clientHasLeft)
            reply(.text("too late"))
            #expect(reply.clientHasLeft)
        }
        let staying = server.client()
        staying.send("GET /here HTTP/1.1\r\nHost: h\r\n\r\n")
        for await (reply, path) in replies.prefix(1) {
            #expect(!reply.clientHasLeft)
            reply(.text(path))
            #expect(reply.clientHasLeft)
        }
        #expect(staying.answer()?.text == "/here")
    }

    @Test func `a reply reports that the server has stopped`() async throws {
        let (handler, replies) = Self.waiting()
        let server = try RunningServer(handler)
        let client = server.client()
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        for await (reply, _) in replies.prefix(1) {
            #expect(!reply.clientHasLeft)
            await server.server.stop()
            #expect(reply.clientHasLeft)
        }
        #expect(client.answer()?.status == 503)
    }

    @Test func `a client that has closed its sending side still gets its reply`() async throws {
        let (handler, replies) = Self.waiting()
        let server = try RunningServer(handler)
        let client = server.client()
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        client.closeSending()
        for await (reply, _) in replies.prefix(1) { reply(.text("still here")) }
        #expect(client.answer()?.text == "still here")
    }

    @Test func `two handlers never run on one worker at once`() throws {
        let workers = 4
        let busy = Mutex([Int](repeating: 0, count: workers))
        let clashes = Mutex(0)
        let seen = Mutex<Set<Int>>([])
        let server = try RunningServer(
            workers: workers,
            TestHandler { request in
                let worker = request.connection.worker
                seen.withLock { _ = $0.insert(worker) }
                guard (0..<workers).contains(worker) else { return .now(.text("bad worker")) }
                let others = busy.withLock { busy in
                    busy[worker] += 1
                    return busy[worker] - 1
                }
                var sum = 0
                for number in 0..<20_000 { sum &+= number }
                busy.withLock { $0[worker] -= 1 }
                if others > 0 { clashes.withLock { $0 += 1 } }
                return .now(.text("\(sum)"))
            })
        let clients = (0..<32).map { _ in server.client() }
        for _ in 0..<10 {
            for client in clients {
                client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            }
            for client in clients { #expect(client.answer()?.text == "199990000") }
        }
        #expect(clashes.withLock { $0 } == 0)
        #expect(seen.withLock { $0 } == Set(0..<workers))
    }
}
