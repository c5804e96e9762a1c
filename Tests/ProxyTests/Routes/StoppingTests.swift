import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// Changes that do not begin once the server stops.
@Suite(.timeLimit(.minutes(1))) struct StoppingTests {
    /// Handles a request as a stopping server does, and waits until the handler tries to begin a change. It
    /// is refused, and nothing is answered.
    private func refuse(_ request: Request, _ test: TestApp) async {
        guard case .later(let start) = test.graph.routes.read(request).handle(request) else {
            Issue.record("answered at once")
            return
        }
        await withCheckedContinuation { continuation in
            let answers = Mutex(0)
            start(
                Reply(
                    { _ in answers.withLock { $0 += 1 } },
                    tryBeginChange: {
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

    @Test func `a change of the operator does not begin`() async throws {
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

    @Test func `an intercepted reply uses the same server`() {
        let asked = Mutex<[String]>([])
        let reply = Reply(
            { _ in asked.withLock { $0.append("answer") } },
            tryBeginChange: {
                asked.withLock { $0.append("begins") }
                return false
            },
            endChange: { _ in asked.withLock { $0.append("changed") } })
        let other = reply.intercepted { _ in asked.withLock { $0.append("intercepted") } }
        #expect(!other.tryBeginChange())
        other.endChange(answerOnStop: Response(status: .ok))
        other(Response(status: .ok))
        #expect(asked.withLock { $0 } == ["begins", "changed", "intercepted"])
    }
}
