import HTTPMessage
import HTTPTypes
import SyncCore
import TestSupport
import Testing

@testable import Proxy

/// What an answer says of a token while the backend is away, as things stand when it is given.
@Suite(.timeLimit(.minutes(1))) struct UnconfirmedTokenTests {
    private static let token = Token(login: "t")

    /// A house whose anonymous engine and whose user's know that the backend is there.
    private func withUser(_ body: (TestHouse, Home) async throws -> Void) async throws {
        try await TestHouse.run(sync: .auto) { test in
            let home = try await test.house.homes.vouched(for: Self.token)
            for one in [home, test.house.homes.nobody] {
                try await wait { one.board.reach == .reachable && one.board.isOnline }
            }
            try await body(test, home)
        }
    }

    private func wait(_ condition: () -> Bool) async throws {
        while !condition() {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    private func ask(_ path: String, _ test: TestHouse) async -> (Int, HTTPFields) {
        let answer = await test.table("GET", path, "", ["X-ZUMO-AUTH": "t"])
        return (answer.status, answer.fields)
    }

    @Test func `what only the anonymous engine has seen is said to a user too`() async throws {
        try await withUser { test, home in
            #expect(await ask("todoitem", test).1[.understudyToken] == nil)
            // The user's engine has heard of the backend, and asks again no sooner than it must.
            test.transport.decide { request, _ in
                request.head.headerFields[.zumoAuth] == nil ? .notSent : nil
            }
            test.house.homes.nobody.engine.nudge(.unreachable)
            let nobody = test.house.homes.nobody
            try await wait { nobody.board.reach == .away }
            #expect(home.board.isOnline)
            let (status, fields) = await ask("todoitem", test)
            #expect(status == 200)
            #expect(fields[.understudyToken]?.hasPrefix("unconfirmed; until=20") == true)
            // One without a token has none to confirm.
            #expect(await test.table("GET", "todoitem").fields[.understudyToken] == nil)
        }
    }

    @Test func `a request that finds the backend away says so itself`() async throws {
        try await withUser { test, home in
            test.unplug()
            let (status, fields) = await ask("todoitem/none", test)
            #expect(status == 503)
            #expect(fields[.understudyBackend] == "offline")
            #expect(fields[.understudyToken]?.hasPrefix("unconfirmed; until=20") == true)
            #expect(home.board.reach == .away)
        }
    }
}
