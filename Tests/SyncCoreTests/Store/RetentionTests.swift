import Backend
import Foundation
import HTTPMessage
import HTTPTypes
import Storage
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

@Suite struct RetentionTests {
    private func count(_ table: String, in store: Store) async throws -> Int64 {
        try await store.read { try $0.integer("SELECT count(*) FROM \(table)") ?? 0 }
    }

    private func sweep(_ retention: Retention, in store: Store) async throws {
        while try await store.write({
            try Sweep(transaction: $0, retention: retention).run()
        }) {}
    }

    @Test func `each kind goes after its own time, and what is open never`() async throws {
        let world = try World()
        try await world.insert("gone")
        try await world.insert("kept")
        _ = await world.engine.push()
        try await world.delete("gone")
        _ = await world.engine.push()
        world.transport.decide { _, _ in .instead(Response(status: .serviceUnavailable)) }
        try await world.update("kept", #"{"text":"waits"}"#)
        _ = await world.engine.push()
        var retention = Retention()
        retention.attemptSeconds = 3600
        retention.historySeconds = 2 * 3600
        retention.tombstoneSeconds = 3 * 3600
        let openAttempts = try await world.open().count
        #expect(openAttempts == 1)
        #expect(try await count("attempts", in: world.store) == 4)
        let history = try await count("history", in: world.store)
        try await sweep(retention, in: world.store)
        #expect(try await count("attempts", in: world.store) == 4)
        world.clock.advance(by: .seconds(3601))
        try await sweep(retention, in: world.store)
        #expect(try await count("attempts", in: world.store) == 1)
        #expect(try await count("history", in: world.store) == history)
        #expect(try await count("operations", in: world.store) == 4)
        world.clock.advance(by: .seconds(3600))
        try await sweep(retention, in: world.store)
        #expect(try await count("history", in: world.store) == 0)
        #expect(try await count("operations", in: world.store) == 1)
        #expect(try await world.row("gone")?.deleted == true)
        world.clock.advance(by: .seconds(3600))
        try await sweep(retention, in: world.store)
        #expect(try await world.row("gone") == nil)
        #expect(try await world.local("kept")?.columns["text"] == .string("waits"))
        #expect(try await count("attempts", in: world.store) == 1)
        #expect(try await world.store.ledger().balances)
    }

    @Test func `undo of an insert whose attempts are gone does not delete another writer's row`()
        async throws
    {
        let world = try World()
        try await world.seed("a", #"{"text":"theirs","rank":1}"#)
        _ = try await world.store.updateTable(world.todo) { $0.conflictPolicy = .client }
        try await world.insert("a")
        _ = await world.engine.push()
        #expect(try await world.open().isEmpty)
        let write = try await world.store.entry(.write)
        var retention = Retention()
        retention.attemptSeconds = 3600
        world.clock.advance(by: .seconds(3601))
        try await sweep(retention, in: world.store)
        #expect(try await count("attempts", in: world.store) == 0)
        guard case .refused(let reason) = try await world.store.undo(write.id).outcome else {
            throw World.Failure("it would delete another writer's row")
        }
        #expect(reason.contains("keep-attempts"))
        #expect(try await world.open().isEmpty)
        #expect(try await world.local("a") != nil)
    }

    @Test func `undo of an insert whose operation is gone does not delete the item`() async throws {
        let world = try World()
        try await world.insert("a")
        _ = await world.engine.push()
        let write = try await world.store.entry(.write)
        // As a full store removes it.
        try await world.store.write {
            try $0.run("DELETE FROM operations WHERE closed_at IS NOT NULL")
        }
        guard case .refused(let reason) = try await world.store.undo(write.id).outcome else {
            throw World.Failure("it would delete an item that the backend may have had")
        }
        #expect(reason.contains("no longer kept"))
        #expect(try await world.local("a") != nil)
    }

    @Test func `bytes beyond the limit go, the oldest first, and attempts of open operations stay`()
        async throws
    {
        let world = try World()
        let long = String(repeating: "x", count: 2000)
        for number in 0..<20 { try await world.insert("i\(number)", #"{"text":"\#(long)"}"#) }
        _ = await world.engine.push()
        world.transport.decide { _, _ in .instead(Response(status: .serviceUnavailable)) }
        try await world.update("i0", #"{"text":"waits"}"#)
        _ = await world.engine.push()
        var retention = Retention()
        retention.historyBytes = 10_000
        retention.attemptBytes = 1000
        let (limits, store) = (retention, world.store)
        let cut = try await store.read { try ByteBudget(transaction: $0).cut(limits) }
        #expect(cut.history != nil && cut.attempts != nil)
        while try await store.write({ try ByteBudget(transaction: $0).remove(upTo: cut) }) {}
        let texts: [String] = try await store.read {
            try $0.column("SELECT item_id FROM history ORDER BY id DESC")
        }
        // The entry of the update, and the latest inserts that fit.
        #expect((2...6).contains(texts.count))
        #expect(texts.prefix(2) == ["i0", "i19"])
        let open = try #require(try await world.open().first)
        let detail = try #require(try await store.lists.operation(open.id))
        #expect(detail.attempts.count == 1)
        #expect(try await count("attempts", in: store) < 20)
        let again = try await store.read { try ByteBudget(transaction: $0).cut(limits) }
        #expect(again == ByteBudget.Cut())
    }

    @Test func `without limits nothing is cut`() async throws {
        let world = try World()
        try await world.insert("a")
        _ = await world.engine.push()
        let cut = try await world.store.read { try ByteBudget(transaction: $0).cut(Retention()) }
        #expect(cut == ByteBudget.Cut())
    }

    @Test func `an attempt that ended well keeps no bodies, one that failed keeps all`()
        async throws
    {
        let world = try World()
        world.transport.decide { request, _ in
            request.head.method == .post ? .instead(Response(status: .serviceUnavailable)) : nil
        }
        try await world.insert("a")
        _ = await world.engine.push()
        world.transport.decide { _, _ in nil }
        world.clock.advance(by: .seconds(3600))
        _ = await world.engine.push()
        let done = try #require(try await world.operations([.done]).first)
        let detail = try #require(try await world.store.lists.operation(done.id))
        let writes = detail.attempts.filter { $0.method == "POST" }
        try #require(writes.count == 2)
        #expect(writes[0].requestBody != nil && !writes[0].requestHeaders.isEmpty)
        #expect(writes[0].status == 503 && writes[1].status == 201)
        #expect(writes[1].requestBody == nil && writes[1].responseExcerpt == nil)
        #expect(writes[1].requestHeaders.isEmpty && writes[1].responseHeaders.isEmpty)
        #expect(detail.payload != nil)
    }

    @Test func `the usage of a store has every byte of the file once`() async throws {
        let world = try World()
        let long = String(repeating: "x", count: 3000)
        for number in 0..<50 { try await world.insert("i\(number)", #"{"text":"\#(long)"}"#) }
        _ = await world.engine.push()
        try await world.delete("i7")
        let usage = try await world.store.health.usage(logBytes: 4096)
        let pages = try await world.store.read {
            (try $0.integer("PRAGMA page_count") ?? 0) * (try $0.integer("PRAGMA page_size") ?? 0)
        }
        #expect(usage.parts.map(\.kind) == StoreUsageKind.allCases)
        #expect(usage.bytes == pages + 4096)
        #expect(usage.bytes(.items) > 150_000 && usage.bytes(.log) == 4096)
        #expect(usage.parts.first?.rows == 50 && usage.tombstones == 1)
    }
}
