import HTTPMessage
import SyncCore
import TablesProtocol
import Testing

@testable import Platform
@testable import Proxy

/// The routes about what is kept: tables, identities, bytes and backups.
struct KeepingRouteTests {
    @Test func `a table is removed by the operator, with its open operations only by force`()
        async throws
    {
        try await TestApp.run { test in
            _ = await test.table("POST", "todoitem", #"{"id":"a","text":"one"}"#)
            let refused = try await test.ask("POST", "/tables/todoitem/remove", "{}")
            #expect(refused.status == 409 && refused.body["code"]?.string == "operations-open")
            let removed = try await test.ask("POST", "/tables/todoitem/remove", #"{"force":true}"#)
            #expect(removed.status == 200)
            #expect(
                removed.body["removed"]?.integer == 1 && removed.body["discarded"]?.integer == 1)
            let tables = try await test.ask("GET", "/tables")
            #expect(tables.body["total"]?.integer == 0)
            let unknown = try await test.ask("POST", "/tables/todoitem/remove", "{}")
            #expect(unknown.status == 404)
        }
    }

    @Test func `identities are listed with their queues`() async throws {
        try await TestApp.run { test in
            _ = await test.table("POST", "todoitem", #"{"id":"a","text":"one"}"#)
            let list = try await test.ask("GET", "/identities").body
            let first = try #require(list["items"]?.array?.first)
            #expect(list["total"]?.integer == 1)
            #expect(first["identity"]?.string == "anonymous" && first["state"]?.string == "open")
            #expect(first["openOperations"]?.integer == 1 && first["items"]?.integer == 1)
            #expect(first["conflicts"]?.integer == 0 && first["quarantined"]?.integer == 0)
            #expect(first["oldestAt"]?.string != nil && first["bytes"]?.integer ?? 0 > 0)
        }
    }

    @Test func `storage has each kind, and how long it is kept`() async throws {
        var kept = Retention()
        kept.attemptSeconds = 7200
        kept.historyBytes = 1 << 20
        let retention = kept
        try await TestApp.run(configure: { $0.sync.retention = retention }) { test in
            let storage = try await test.ask("GET", "/storage").body
            let parts = storage["parts"]?.array ?? []
            #expect(
                parts.compactMap { $0["kind"]?.string } == StoreUsageKind.allCases.map(\.rawValue))
            let sum = parts.reduce(0) { $0 + ($1["bytes"]?.integer ?? 0) }
            #expect(sum == storage["bytes"]?.integer)
            #expect(storage["retention"]?["attemptSeconds"]?.integer == 7200)
            #expect(storage["retention"]?["historyBytes"]?.integer == 1 << 20)
            #expect(storage["retention"]?["attemptBytes"] == .null)
        }
    }

    @Test func `a backup is made, listed and shown in the metrics`() async throws {
        try await TestApp.run { test in
            func metrics() async throws -> String {
                try await test.metrics().joined(separator: "\n")
            }
            #expect(try await !metrics().contains("understudy_last_backup"))
            let made = try await test.ask("POST", "/backups")
            #expect(made.status == 201)
            let list = try await test.ask("GET", "/backups").body
            #expect(list["total"]?.integer == 1 && list["everySeconds"] == .null)
            #expect(list["items"]?.array?.first?["path"] == made.body["path"])
            #expect(list["folder"]?.string == "\(test.folder.path)/backups")
            #expect(try await metrics().contains("understudy_last_backup_timestamp_seconds 1"))
            #expect(try await !metrics().contains("understudy_backup_failing"))
        }
    }
}
