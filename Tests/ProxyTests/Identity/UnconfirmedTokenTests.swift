import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// The report on a token in an answer while the backend cannot be reached.
@Suite(.timeLimit(.minutes(1))) struct UnconfirmedTokenTests {
    private static let token = Token(login: "t")

    /// A proxy in which both engines, the anonymous one and the user's, have reached the backend.
    private func withUser(_ body: (TestApp, Tenant) async throws -> Void) async throws {
        try await TestApp.run(triggers: Set(Trigger.allCases)) { test in
            let tenant = try await test.graph.tenants.verified(Self.token)
            for one in [tenant, test.graph.tenants.anonymous] {
                try await wait {
                    one.backendStatus.reach == .reachable && one.backendStatus.isOnline
                }
            }
            try await body(test, tenant)
        }
    }

    private func wait(_ condition: () -> Bool) async throws {
        while !condition() {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    private func ask(_ path: String, _ test: TestApp) async -> (Int, HTTPFields) {
        let answer = await test.table("GET", path, "", ["X-ZUMO-AUTH": "t"])
        return (answer.status, answer.fields)
    }

    @Test func `a user's answer reports a backend that only the anonymous engine has lost`()
        async throws
    {
        try await withUser { test, tenant in
            #expect(await ask("todoitem", test).1[own: .token] == nil)
            // The user's engine has reached the backend before, and does not ask again yet.
            test.transport.decide { request, _ in
                request.head.headerFields[.zumoAuth] == nil ? .notSent : nil
            }
            test.graph.tenants.anonymous.engine.nudge(.unreachable)
            let anonymous = test.graph.tenants.anonymous
            try await wait { anonymous.backendStatus.reach == .away }
            #expect(tenant.backendStatus.isOnline)
            let (status, fields) = await ask("todoitem", test)
            #expect(status == 200)
            #expect(fields[own: .token]?.hasPrefix("unconfirmed; until=20") == true)
            // A request without a token has none to confirm.
            #expect(await test.table("GET", "todoitem").fields[own: .token] == nil)
        }
    }

    @Test func `a request that finds the backend unreachable reports it`() async throws {
        try await withUser { test, tenant in
            test.unplug()
            let (status, fields) = await ask("todoitem/none", test)
            #expect(status == 503)
            #expect(fields[own: .backend] == "offline")
            #expect(fields[own: .token]?.hasPrefix("unconfirmed; until=20") == true)
            #expect(tenant.backendStatus.reach == .away)
        }
    }
}
