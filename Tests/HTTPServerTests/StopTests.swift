import Foundation
import HTTPMessage
import HTTPServer
import HTTPTypes
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct StopTests {
    private static let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

    @Test func `a stop answers waiting requests with 503 and cuts streams`() async throws {
        let (started, starts) = AsyncStream.makeStream(of: Void.self)
        let (gone, went) = AsyncStream.makeStream(of: Void.self)
        let replies = Mutex<[Reply]>([])
        let server = try RunningServer(
            TestHandler { request in
                if request.path == "/stream" {
                    let stream = ByteStream()
                    stream.onCancel { went.yield() }
                    starts.yield()
                    return .now(Response(head: HTTPResponse(status: .ok), stream: stream))
                }
                return .later { reply in
                    replies.withLock { $0.append(reply) }
                    starts.yield()
                }
            })
        let waiting = (0..<20).map { _ in server.client() }
        let streaming = (0..<20).map { _ in server.client() }
        let idle = server.client()
        idle.send("GET / HT")
        for client in waiting { client.send(Self.get) }
        for client in streaming {
            client.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\n")
        }
        for await _ in started.prefix(40) {}
        for client in streaming { #expect(client.head()?.status == 200) }
        await server.server.stop()
        for client in waiting {
            let answer = client.answer()
            #expect(answer?.status == 503)
            #expect(answer?.value("Retry-After") == "1")
            #expect(answer?.value("Connection") == "close")
        }
        for client in streaming { #expect(client.chunk() == nil) }
        for await _ in gone.prefix(20) {}
        let isClosed = idle.isClosed()
        #expect(isClosed)
        for reply in replies.withLock({ $0 }) { reply(.text("too late")) }
    }

    @Test func `a stop waits for the answer to a change, and for no other`() async throws {
        let held = try await HeldReplies(["/change", "/made", "/later", "/network"]) {
            path, reply in
            if path != "/network" { #expect(reply.tryBeginChange()) }
            if path == "/made" { reply.endChange(answerOnStop: .text("made, not sent on")) }
        }
        let (server, clients, replies) = (held.server, held.clients, held.replies)
        let idle = server.client()
        let stopped = Task(executorPreference: OwnThreads()) { await server.server.stop() }
        // The stop has begun when the request that waits for the network is answered.
        #expect(clients[3].answer()?.status == 503)
        #expect(clients[1].answer()?.text == "made, not sent on")
        idle.send(Self.get)
        // A new request is answered 503, or its connection is closed before.
        #expect([nil, 503].contains(idle.answer()?.status))
        #expect(replies["/network"]?.tryBeginChange() == false)
        replies["/change"]?(.text("committed", status: .created))
        replies["/later"]?.endChange(answerOnStop: .text("kept"))
        await stopped.value
        let answer = clients[0].answer()
        #expect(answer?.status == 201)
        #expect(answer?.text == "committed")
        #expect(answer?.value("Connection") == "close")
        #expect(clients[2].answer()?.text == "kept")
        // The replies are kept up to here, since the last copy of a reply answers when it is dropped.
        #expect(replies.count == 4)
    }

    @Test func `the answer to a change that began is sent to its end, and no other stream is`()
        async throws
    {
        let held = try await HeldReplies(["/change", "/begun", "/read"]) { path, reply in
            if path != "/read" { #expect(reply.tryBeginChange()) }
        }
        let (server, clients, replies) = (held.server, held.clients, held.replies)
        let streams = [ByteStream(), ByteStream(), ByteStream()]
        // Two answers have begun when the stop begins.
        for (path, stream) in zip(["/begun", "/read"], streams[1...]) {
            replies[path]?(Response(head: HTTPResponse(status: .ok), stream: stream))
        }
        for client in clients[1...] { #expect(client.head()?.status == 200) }
        let stopped = Task(executorPreference: OwnThreads()) { await server.server.stop() }
        #expect(clients[2].chunk() == nil)
        replies["/change"]?(Response(head: HTTPResponse(status: .created), stream: streams[0]))
        for stream in streams[..<2] {
            stream.write(Array("whole".utf8))
            stream.finish()
        }
        #expect(clients[0].head()?.status == 201)
        for client in clients[..<2] { #expect(client.chunk() == Array("whole".utf8)) }
        await stopped.value
        #expect(replies.count == 3)
    }

    @Test func `a change that does not end delays a stop only up to the limit`() async throws {
        let (started, starts) = AsyncStream.makeStream(of: Void.self)
        let replies = Mutex<[Reply]>([])
        var limits = Limits()
        limits.changeGraceMilliseconds = 1
        let server = try RunningServer(
            limits: limits,
            TestHandler { _ in
                .later { reply in
                    #expect(reply.tryBeginChange())
                    replies.withLock { $0.append(reply) }
                    starts.yield()
                }
            })
        let client = server.client()
        client.send(Self.get)
        for await _ in started.prefix(1) {}
        await server.server.stop()
        // Not 503, which would say that nothing was done.
        #expect(client.answer()?.status == 500)
        for reply in replies.withLock({ $0 }) { reply(.text("too late")) }
    }

    @Test func `a stop is safe twice, without a start, and under load`() async throws {
        let unused = Server(
            ServerConfiguration(addresses: [try ListenAddress("127.0.0.1:0")]),
            handler: TestHandler.echo)
        await unused.stop()
        for _ in 0..<30 {
            let held = Mutex<[Reply]>([])
            let server = try RunningServer(
                TestHandler { _ in
                    .later { reply in
                        held.withLock { held in
                            held.append(reply)
                            if held.count.isMultiple(of: 2) { held.removeFirst()(.text("one")) }
                        }
                    }
                })
            let clients = (0..<16).map { _ in server.client() }
            for client in clients { client.send(Self.get + Self.get) }
            async let first: Void = server.server.stop()
            for reply in held.withLock({ $0 }) { reply(.text("two")) }
            await server.server.stop()
            await first
        }
    }

    @Test func `a stopped server frees its port and does not start again`() async throws {
        let server = try RunningServer(.echo)
        let address = try ListenAddress("127.0.0.1:\(server.port)")
        await server.server.stop()
        #expect(throws: StartFailure.alreadyStarted) { try server.server.start() }
        let next = Server(ServerConfiguration(addresses: [address]), handler: TestHandler.echo)
        #expect(try next.start() == [address])
        await next.stop()
    }
}

/// A server with requests for some paths, whose replies a test gives.
private struct HeldReplies {
    let server: RunningServer
    let clients: [RawClient]
    let replies: [String: Reply]

    /// - Parameter begin: what the handler does with each reply before it waits.
    init(
        _ paths: [String], _ begin: @escaping @Sendable (String, Reply) -> Void
    ) async throws {
        let (started, starts) = AsyncStream.makeStream(of: Void.self)
        let held = Mutex<[String: Reply]>([:])
        var limits = Limits()
        limits.changeGraceMilliseconds = 60_000
        let server = try RunningServer(
            limits: limits,
            TestHandler { request in
                .later { reply in
                    let path = String(request.path)
                    begin(path, reply)
                    held.withLock { $0[path] = reply }
                    starts.yield()
                }
            })
        self.server = server
        clients = paths.map { path in
            let client = server.client()
            client.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
            return client
        }
        for await _ in started.prefix(paths.count) {}
        replies = held.withLock { $0 }
    }
}

/// Runs each job on a thread of its own: a test that reads from a socket holds a thread of the pool, and the
/// other one may be held by another test.
private final class OwnThreads: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
