import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// A gateway before the backend says "later": no client takes that for the backend's refusal.
@Suite struct GatewayAnswerTests {
    private static let answers: [(status: Int, fields: HTTPFields)] = [
        (403, [.retryAfter: "120"]), (407, [:]), (421, [:]), (425, [:]),
        (511, [.contentType: "text/html"]), (522, [.contentType: "text/html"]),
    ]

    @Test(arguments: answers)
    func `a write that waits for the verdict is taken, and sent later`(
        status: Int, fields: HTTPFields
    ) async throws {
        let through = try #require(PolicySetting("todoitem=write-through"))
        try await TestApp.run(configure: { $0.policies = [through] }) { test in
            _ = test.elsewhere("POST", "todoitem", #"{"id":"a","text":"x"}"#)
            #expect(
                await test.graph.tenants.anonymous.engine.pull(try #require(TableName("todoitem")))
                    .state == .complete)
            let answer = Response(status: .init(code: status), headerFields: fields)
            test.transport.decide { _, _ in .instead(answer) }
            let written = await test.table("PATCH", "todoitem/a", #"{"text":"mine"}"#)
            #expect(written.status == 200)
            #expect(written.fields[own: .state] == "pending")
            #expect(written.body["text"]?.string == "mine")
            let queue = try await test.ask("GET", "/status").body["queue"]
            #expect(queue?["quarantined"]?.integer == 0)
        }
    }

    @Test(arguments: answers)
    func `a read that the backend would answer gets 503 and a time`(
        status: Int, fields: HTTPFields
    ) async throws {
        try await TestApp.run { test in
            let answer = Response(status: .init(code: status), headerFields: fields)
            test.transport.decide { _, _ in .instead(answer) }
            for target in ["todoitem", "todoitem/a"] {
                let read = await test.table("GET", target)
                #expect(read.status == 503, "\(target)")
                #expect(read.fields[.retryAfter] != nil, "\(target)")
            }
        }
    }
}
