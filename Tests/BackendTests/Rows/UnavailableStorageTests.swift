import Dispatch
import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import Backend

/// The serving part while its storage cannot answer: 503 with `Retry-After`, or 500 for an error that lasts.
@Suite struct UnavailableStorageTests {
    private struct Broken: Error, CustomStringConvertible {
        let description = "The host db1 holds the text secret."
    }

    @Test func `the text of an error goes to the operator and not to the client`() throws {
        let storage = InterruptedStorage(
            base: try SQLiteRowStorage(), beforeWrite: { throw Broken() })
        let client = try Client(on: storage)
        let texts = Mutex<[String]>([])
        client.backend.onFailure = { text in texts.withLock { $0.append(text) } }
        let answer = try client.send("POST", "/tables/todos", #"{"id":"a"}"#)
        #expect(answer.status == 500)
        #expect(answer.text.contains(Refusal.failed.message), "\(answer.text)")
        #expect(!answer.text.contains("db1") && !answer.text.contains("secret"))
        #expect(texts.withLock { $0 } == [Broken().description])
    }

    @Test func `a login, a refresh and a logout are asked to come again`() throws {
        let storage = InterruptedStorage(
            base: try SQLiteRowStorage(),
            beforeLogin: { throw StorageUnavailable(reason: "The host db1 is away.") })
        let client = try Client(on: storage)
        let requests: [(method: String, target: String, body: String?)] = [
            ("POST", "/.auth/login/facebook", #"{"access_token":"ana"}"#),
            ("GET", "/.auth/refresh", nil), ("GET", "/.auth/logout", nil),
        ]
        for request in requests {
            let answer = try client.send(
                request.method, request.target, request.body, ["X-ZUMO-AUTH": "t"])
            #expect(answer.status == 503, "\(request.target)")
            #expect(answer.field("Retry-After") == "1", "\(request.target)")
            #expect(!answer.text.contains("db1"), "\(request.target)")
        }
    }

    @Test func `the log says once a minute that it is away, and once that it answers`() throws {
        let isAway = Mutex(false)
        let seconds = Mutex(0)
        let reason = "The host db1 is away."
        let interrupt: @Sendable () throws -> Void = {
            if isAway.withLock({ $0 }) { throw StorageUnavailable(reason: reason) }
        }
        let storage = InterruptedStorage(
            base: try SQLiteRowStorage(), beforeWrite: interrupt, beforeCheck: interrupt)
        var options = BackendOptions()
        options.servesHealth = true
        let backend = try TablesBackend(
            on: storage, options: options, clock: { Instant(milliseconds: 1_800_000_000_000) },
            uptime: { .seconds(seconds.withLock { $0 }) })
        let news = Mutex<[StorageNews]>([])
        backend.onStorageNews = { one in news.withLock { $0.append(one) } }
        func status(_ method: HTTPRequest.Method, _ path: String, _ body: String = "") -> Int {
            let head = HTTPRequest(method: method, scheme: "http", authority: "b", path: path)
            let request = Request(head: head, body: Array(body.utf8))
            return backend.respond(to: request).head.status.code
        }
        #expect(status(.post, "/tables/t", #"{"id":"a"}"#) == 201)
        isAway.withLock { $0 = true }
        for second in [0, 59] {
            seconds.withLock { $0 = second }
            #expect(status(.post, "/tables/t", #"{"id":"b"}"#) == 503)
            #expect(status(.get, "/-/readyz") == 503)
        }
        #expect(news.withLock { $0 } == [.unavailable(reason: reason)])
        seconds.withLock { $0 = 60 }
        #expect(status(.get, "/-/readyz") == 503)
        isAway.withLock { $0 = false }
        for _ in 0..<2 {
            #expect(status(.get, "/-/readyz") == 200)
            #expect(status(.get, "/tables/t") == 200)
        }
        // Less than a minute later.
        isAway.withLock { $0 = true }
        #expect(status(.get, "/-/readyz") == 503)
        isAway.withLock { $0 = false }
        #expect(status(.get, "/-/readyz") == 200)
        let told: [StorageNews] = [
            .unavailable(reason: reason), .unavailable(reason: reason), .answers,
        ]
        #expect(news.withLock { $0 } == told)
    }

    @Test func `the report of an end comes after that of its beginning`() throws {
        let outage = StorageOutage(uptime: { .zero })
        let news = Mutex<[StorageNews]>([])
        let end = DispatchGroup()
        outage.report = { one in
            if one != .answers {
                DispatchQueue.global().async(group: end) { outage.ended() }
                // The end has to wait for this report: it would come within this time otherwise.
                _ = end.wait(timeout: .now() + .milliseconds(200))
            }
            news.withLock { $0.append(one) }
        }
        outage.began("The host db1 is away.")
        end.wait()
        outage.report = nil
        #expect(news.withLock { $0 } == [.unavailable(reason: "The host db1 is away."), .answers])
    }

    @Test func `a request whose client left while it waited is not begun`() throws {
        let works = Mutex<[@Sendable () -> Void]>([])
        let seconds = Mutex(0)
        let storage = InterruptedStorage(
            base: try SQLiteRowStorage(),
            callThreads: .ownThreads { _, work in
                works.withLock { $0.append(work) }
                return .begins
            })
        let backend = try TablesBackend(
            on: storage, options: BackendOptions(),
            clock: { Instant(milliseconds: 1_800_000_000_000) },
            uptime: { .seconds(seconds.withLock { $0 }) })
        backend.beginToDrain()
        /// The status of an insert whose turn comes after a while. Each answer of a node that drains closes its
        /// connection.
        func status(_ id: String, clientLeaves: Bool, after wait: Int) throws -> Int? {
            let head = HTTPRequest(
                method: .post, scheme: "http", authority: "b", path: "/tables/t")
            let request = Request(head: head, body: Array(#"{"id":"\#(id)"}"#.utf8))
            guard case .later(let begin) = backend.handle(request) else { throw Unexpected() }
            let answered = Mutex<Response?>(nil)
            begin(
                Reply(
                    { response in answered.withLock { $0 = response } },
                    clientHasLeft: { clientLeaves }))
            seconds.withLock { $0 += wait }
            let work = works.withLock { $0.removeFirst() }
            work()
            let answer = answered.withLock { $0?.head }
            #expect(answer?.headerFields[.connection] == "close", "\(id)")
            return answer?.status.code
        }
        // A client that only closed its sending side reads the answer.
        #expect(try status("a", clientLeaves: true, after: 0) == 201)
        #expect(try status("b", clientLeaves: false, after: 5) == 201)
        #expect(try status("c", clientLeaves: true, after: 1) == 503)
        #expect(try status("d", clientLeaves: false, after: 16) == 503)
        #expect(try storage.effects(after: 0, limit: 10).map(\.itemID) == ["a", "b"])
        // All of them were counted.
        let counts = backend.meter.all.map { [$0.key.status, $0.value.count] }
            .sorted { $0[0] < $1[0] }
        #expect(counts == [[201, 2], [503, 2]])
    }

    @Test(.ends) func `a request that finds the queue full is asked to come again`() async throws {
        let storage = InterruptedStorage(
            base: try SQLiteRowStorage(), callThreads: .ownThreads { _, _ in .refused })
        let client = try Client(on: storage)
        let request = Request(
            head: .init(method: .get, scheme: "http", authority: "b", path: "/tables/t"), body: [])
        guard case .later(let begin) = client.backend.handle(request) else { throw Unexpected() }
        let response = await withCheckedContinuation { waiting in
            begin(Reply { waiting.resume(returning: $0) })
        }
        let answer = Client.Answer(response: response)
        #expect(answer.status == 503)
        #expect(answer.field("Retry-After") == "1")
        await #expect(throws: StorageUnavailable.self) { try await client.backend.effects() }
    }
}
