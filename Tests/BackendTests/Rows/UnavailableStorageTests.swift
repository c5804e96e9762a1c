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

    @Test(.ends) func `a request that finds the queue full is asked to come again`() async throws {
        let storage = InterruptedStorage(
            base: try SQLiteRowStorage(), place: .ownThreads { _ in false })
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
