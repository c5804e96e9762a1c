import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// What a server that has stopped does not begin any more.
@Suite(.timeLimit(.minutes(1))) struct StoppingTests {
    /// Hands a request over as a server does that stops, and waits until it is asked whether a change may
    /// begin; then nothing is answered.
    private func refuse(_ request: Request, _ test: TestApp) async {
        guard case .later(let start) = test.graph.routes.handle(request) else {
            Issue.record("answered at once")
            return
        }
        await withCheckedContinuation { continuation in
            let answers = Mutex(0)
            start(
                Reply(
                    { _ in answers.withLock { $0 += 1 } },
                    beginsChange: {
                        #expect(answers.withLock { $0 } == 0)
                        continuation.resume()
                        return false
                    }))
        }
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func `a change is not passed on`(method: String) async throws {
        try await TestApp.run { test in
            await refuse(.make(method, "/api/custom", body: "{}"), test)
            let read = await test.send(.make("GET", "/api/custom"))
            #expect(read.head.status.code != 503)
            #expect(test.transport.sent.allSatisfy { $0.head.method == .get })
        }
    }

    @Test func `the operator changes nothing`() async throws {
        try await TestApp.run { test in
            let token = try test.folder.token() ?? ""
            let fields: KeyValuePairs = [
                "Authorization": "Bearer \(token)", "Content-Type": "application/json",
            ]
            let body = #"{"mode":"offline"}"#
            await refuse(.make("POST", "/-/api/v1/mode", fields, body: body), test)
            let status = try await test.ask("GET", "/status")
            #expect(status.body["mode"]?["mode"]?.string == "online")
        }
    }

    @Test func `a reply that is intercepted asks the same server`() {
        let asked = Mutex<[String]>([])
        let reply = Reply(
            { _ in asked.withLock { $0.append("answer") } },
            beginsChange: {
                asked.withLock { $0.append("begins") }
                return false
            },
            changed: { _ in asked.withLock { $0.append("changed") } })
        let other = reply.intercepted { _ in asked.withLock { $0.append("intercepted") } }
        #expect(!other.beginsChange())
        other.changed(Response(status: .ok))
        other(Response(status: .ok))
        #expect(asked.withLock { $0 } == ["begins", "changed", "intercepted"])
    }
}
