import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// Changes that were written without a sign-in, at a backend that wants one.
@Suite struct UnsignedChangesTests {
    private func run(
        adopts: Bool = false, _ body: (TestApp) async throws -> Void
    ) async throws {
        try await TestApp.run(configure: { $0.adoptsUnsigned = adopts }) { test in
            test.unplug()
            for number in 0..<3 {
                let written = await test.table(
                    "POST", "todoitem", #"{"id":"n\#(number)","text":"\#(number)"}"#)
                #expect(written.status == 201)
            }
            // The backend is back, and refuses every request without a token.
            test.transport.decide { request, _ in
                let token = HTTPField.Name("X-ZUMO-AUTH").flatMap { request.head.headerFields[$0] }
                return token == nil ? .instead(Response(status: .unauthorized)) : nil
            }
            _ = try await test.ask("POST", "/sync?wait=60")
            try await body(test)
        }
    }

    private func signIn(_ test: TestApp, _ token: String) async {
        #expect(await test.table("GET", "todoitem", "", ["X-ZUMO-AUTH": token]).status == 200)
    }

    private func user(_ test: TestApp) async throws -> String {
        try #require(test.graph.tenants.identities.dropFirst().first)
    }

    private func open(_ test: TestApp, _ identity: String? = nil) async throws -> Int64? {
        let status = try await test.ask(
            "GET", "/status" + (identity.map { "?identity=\($0)" } ?? ""))
        return status.body["queue"]?["queued"]?.integer
    }

    private func offered(_ test: TestApp) async throws -> JSONValue? {
        try await test.ask("GET", "/status").body["unsigned"]
    }

    @Test func `they are offered to the only user since, given by word, and taken back`()
        async throws
    {
        try await run { test in
            #expect(try await offered(test) == .null)
            await signIn(test, "ana")
            let user = try await user(test)
            let status = try await test.ask("GET", "/status").body
            #expect(status["unsigned"]?["operations"]?.integer == 3)
            #expect(status["unsigned"]?["identity"]?.string == user)
            let warnings = status["warnings"]?.array?.compactMap(\.string) ?? []
            #expect(warnings.contains { $0.contains("understudy queue assign --identity \(user)") })
            let body = #""identity":"\#(user)""#
            let plan = try await test.ask("POST", "/operations/assign", "{\(body),\"dryRun\":true}")
            #expect(plan.body["matched"]?.integer == 3)
            #expect(plan.body["changed"]?.integer == 0)
            #expect(try await open(test) == 3)
            let done = try await test.ask("POST", "/operations/assign", "{\(body)}")
            #expect(done.body["changed"]?.integer == 3)
            #expect(try await open(test) == 0)
            #expect(try await open(test, user) == 3)
            #expect(try await offered(test) == .null)
            let undone = try await test.ask("POST", "/operations/assign", "{\(body),\"undo\":true}")
            #expect(undone.body["changed"]?.integer == 3)
            #expect(try await open(test) == 3)
            #expect(try await open(test, user) == 0)
            _ = try await test.ask("POST", "/operations/assign", "{\(body)}")
            _ = try await test.ask("POST", "/sync?wait=60&identity=\(user)")
            for number in 0..<3 {
                let there = test.elsewhere("GET", "todoitem/n\(number)")
                #expect(there["text"]?.string == "\(number)")
            }
            for identity in ["anonymous", user] {
                let ledger = try await test.ask("GET", "/status?identity=\(identity)").body[
                    "ledger"]
                #expect(ledger?["balances"]?.bool == true)
            }
        }
    }

    @Test func `two users since, and they stay`() async throws {
        try await run(adopts: true) { test in
            // The graph's own loop gives nothing between the two.
            #expect(await test.graph.tenants.handovers.take())
            await signIn(test, "ana")
            await signIn(test, "ben")
            test.graph.tenants.handovers.release()
            #expect(try await offered(test)?["identity"] == .null)
            let answer = try await test.ask(
                "POST", "/operations/assign", #"{"identity":"\#(try await user(test))"}"#)
            #expect(answer.status == 409)
            #expect(answer.body["code"]?.string == "refused")
            await test.graph.tenants.handOver()
            #expect(try await open(test) == 3)
        }
    }

    @Test func `by the setting the next user who signs in gets them, and nobody by default`()
        async throws
    {
        for adopts in [false, true] {
            try await run(adopts: adopts) { test in
                await test.graph.tenants.handOver()
                #expect(try await open(test) == 3)
                await signIn(test, "ana")
                await test.graph.tenants.handOver()
                // The graph's own loop may have been first, and be at work.
                while adopts, try await open(test) != 0 { try Task.checkCancellation() }
                #expect(try await open(test) == (adopts ? 0 : 3))
                #expect(try await open(test, try await user(test)) == (adopts ? 3 : 0))
            }
        }
    }
}
