import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol
import TestSupport
import Testing

@testable import Proxy

/// Which reads wait for a pull, and what a table without a policy of its own does.
@Suite struct AwaitedPullTests {
    @Test func `the same list again waits for a pull, and a client that polls waits for one alone`()
    {
        func decide(_ before: Int64, _ now: Int) -> [Int64?] {
            let (since, noted) = RepeatedLists.awaitedPull(before: before, now: .milliseconds(now))
            return [since?.wholeMilliseconds, noted]
        }
        #expect(decide(0, 5_000) == [nil, 5_000])
        // A pull that the first one began may have come before a change that the second one is to show.
        #expect(decide(5_000, 5_001) == [5_001, -5_001])
        #expect(decide(5_000, 14_999) == [14_999, -14_999])
        #expect(decide(5_000, 15_000) == [nil, 15_000])
        // A further one within a second is of a program that polls, and is noted rarely.
        #expect(decide(-5_000, 5_050) == [nil, -5_000])
        #expect(decide(-5_000, 5_999) == [nil, -5_999])
        #expect(decide(-5_000, 6_000) == [6_000, -6_000])
        #expect(decide(-5_000, 15_000) == [nil, 15_000])
    }

    @Test func `lists of other clients are other lists`() {
        let lists = RepeatedLists()
        #expect(lists.note(1, now: .seconds(1)) == nil)
        #expect(lists.note(2, now: .seconds(1)) == nil)
        #expect(lists.note(1, now: .seconds(2)) == .seconds(2))
        // It has the place of the first one.
        #expect(lists.note(1 + Limits.repeatedLists, now: .seconds(2)) == nil)
        #expect(lists.note(1, now: .seconds(3)) == nil)
    }

    @Test func `of the tables in use the latest are kept, for a while`() throws {
        let use = TableUse()
        let names = try (0..<30).map { try #require(TableName("t\($0)")) }
        for (second, name) in names.enumerated() { use.note(name, now: .seconds(second)) }
        #expect(use.used(now: .seconds(30)) == names.suffix(Limits.usedTables).reversed())
        #expect(use.used(now: .seconds(Limits.tableUseSeconds + 28)) == [names[29]])
    }

    @Test func `reads wait after a custom API until its pulls are over, or for five seconds`() {
        let use = TableUse()
        #expect(use.awaitedPull(now: .seconds(1)) == nil)
        let first = use.beginWait(now: .seconds(1))
        #expect(use.awaitedPull(now: .seconds(2)) ?? (.zero, 0) == (first, 5))
        let second = use.beginWait(now: .seconds(4))
        use.endWait(first)
        #expect(use.awaitedPull(now: .seconds(8))?.since == second)
        #expect(use.awaitedPull(now: .milliseconds(9_001)) == nil)
        use.endWait(second)
        #expect(use.awaitedPull(now: .seconds(4)) == nil)
    }

    @Test func `a call of a custom API may change rows, and a sign-in does not`() {
        #expect(CustomAPIs.mayChangeRows(.post, root: "api"))
        #expect(CustomAPIs.mayChangeRows(.delete, root: "jobs"))
        #expect(!CustomAPIs.mayChangeRows(.get, root: "api"))
        for root in [".auth", "login", "push"] {
            #expect(!CustomAPIs.mayChangeRows(.post, root: root))
        }
    }

    private static let all = Set(Trigger.allCases)

    @Test func `with automatic sync a write waits for its outcome, but the dashboard's`()
        async throws
    {
        try await TestApp.run(triggers: Self.all, tables: ["todoitem"]) { test in
            try await test.firstPull(of: "todoitem")
            let made = await test.table("POST", "todoitem", #"{"id":"a","text":"x"}"#)
            #expect(made.status == 201)
            #expect(made.fields[own: .state] == "synced")
            let listed = try await test.ask("GET", "/tables").body["items"]?.array?.first
            #expect(listed?["readPolicy"]?.string == "revalidate")
            #expect(listed?["writePolicy"]?.string == "write-through")
            let set = try await test.ask("PATCH", "/tables/todoitem", #"{"writePolicy":"local"}"#)
            #expect(set.body["writePolicy"]?.string == "local")
            let back = try await test.ask(
                "PATCH", "/tables/todoitem", #"{"writePolicy":"standard"}"#)
            #expect(back.body["writePolicy"]?.string == "write-through")
        }
    }

    @Test func `with all tables local, or with manual sync, a write is only kept`() async throws {
        let local = try #require(PolicySetting("*=local"))
        for triggers in [Self.all, [.manual]] {
            let policies = triggers == [.manual] ? [] : [local]
            try await TestApp.run(
                triggers: triggers, configure: { $0.policies = policies }
            ) { test in
                let made = await test.table("POST", "todoitem", #"{"id":"a","text":"x"}"#)
                #expect(made.status == 201)
                #expect(made.fields[own: .state] == "pending")
                let listed = try await test.ask("GET", "/tables").body["items"]?.array?.first
                #expect(listed?["readPolicy"]?.string == "local")
                #expect(listed?["writePolicy"]?.string == "local")
            }
        }
    }

    @Test func `an SDK's pull shows what another writer has just changed`() async throws {
        // No check of the copy brings the row that only a pull may bring.
        try await TestApp.run(
            triggers: Self.all, tables: ["todoitem"], configure: { $0.sync.checkCopies = nil }
        ) { test in
            try await test.firstPull(of: "todoitem")
            let pull =
                "todoitem?$filter=updatedAt%20ge%20datetimeoffset'2020-01-01T00:00:00Z'"
                + "&$orderby=updatedAt&$skip=0&$top=50&__includeDeleted=true"
            for number in 0..<3 {
                _ = test.elsewhere("POST", "todoitem", #"{"id":"\#(number)"}"#)
                #expect(await test.table("GET", pull).body.array?.count == number + 1)
            }
            _ = test.elsewhere("POST", "todoitem", #"{"id":"more"}"#)
            // A further page is of the pull before, and a plain list is refreshed behind.
            let next = pull.replacing("$skip=0", with: "$skip=3")
            let rows = await test.table("GET", next).body.array ?? [.null]
            #expect(!rows.contains { $0["id"]?.string == "more" || $0 == .null })
            #expect(await test.table("GET", "todoitem").body.array?.count == 3)
            #expect(await test.table("GET", "todoitem").body.array?.count == 4)
        }
    }
}
