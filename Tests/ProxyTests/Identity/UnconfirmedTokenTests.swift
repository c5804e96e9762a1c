import HTTPMessage
import HTTPTypes
import SyncCore
import TestSupport
import Testing

@testable import Proxy

/// What an answer says of a token while the backend is away, as things stand when it is given.
@Suite(.timeLimit(.minutes(1))) struct UnconfirmedTokenTests {
    private static let token = Token(login: "t")

    /// A proxy whose anonymous engine and whose user's know that the backend is there.
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

    @Test func `what only the anonymous engine has seen is said to a user too`() async throws {
        try await withUser { test, tenant in
            #expect(await ask("todoitem", test).1[.understudyToken] == nil)
            // The user's engine has heard of the backend, and asks again no sooner than it must.
            test.transport.decide { request, _ in
                request.head.headerFields[.zumoAuth] == nil ? .notSent : nil
            }
            test.graph.tenants.anonymous.engine.nudge(.unreachable)
            let anonymous = test.graph.tenants.anonymous
            try await wait { anonymous.backendStatus.reach == .away }
            #expect(tenant.backendStatus.isOnline)
            let (status, fields) = await ask("todoitem", test)
            #expect(status == 200)
            #expect(fields[.understudyToken]?.hasPrefix("unconfirmed; until=20") == true)
            // One without a token has none to confirm.
            #expect(await test.table("GET", "todoitem").fields[.understudyToken] == nil)
        }
    }

    @Test func `a request that finds the backend away says so itself`() async throws {
        try await withUser { test, tenant in
            test.unplug()
            let (status, fields) = await ask("todoitem/none", test)
            #expect(status == 503)
            #expect(fields[.understudyBackend] == "offline")
            #expect(fields[.understudyToken]?.hasPrefix("unconfirmed; until=20") == true)
            #expect(tenant.backendStatus.reach == .away)
        }
    }
}
