import Backend
import HTTPMessage
import HTTPTypes
import Storage
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// A site that no longer has all tombstones, and an Understudy that was away for longer than they were kept.
@Suite struct LostDeletionTests {
    private static let day = Duration.seconds(86_400)

    /// A site with rows a to e, all of them pulled.
    private func pulled(part: String? = nil) async throws -> World {
        var options = BackendOptions(flavour: .mobileApps)
        options.kept = KeptTimes(effectSeconds: 30 * 86_400, tombstoneSeconds: 90 * 86_400)
        let world = try World(options, part: part)
        for id in ["a", "b", "c", "d", "e"] { try await world.seed(id, #"{"text":"x"}"#) }
        world.clock.advance(by: .seconds(3600))
        // The second one settles the token.
        for _ in 0..<2 {
            #expect(await world.engine.pull(world.todo).state == .complete)
            world.clock.advance(by: .seconds(3600))
        }
        return world
    }

    /// Rows are deleted at the backend, and their tombstones are removed.
    private func lose(_ world: World, _ ids: String...) async throws {
        for id in ids { #expect(try await world.elsewhere("DELETE", id) == 204) }
        world.clock.advance(by: Self.day * 91)
        try await world.backend.removeExpired()
        for id in ids { #expect(try await world.remote(id) == nil) }
    }

    /// The rows that are here without local changes are the backend's, whole, and there are no others.
    private func compare(_ world: World, besides changed: Set<String> = []) async throws {
        let todo = world.todo
        let ids: [String] = try await world.store.read { transaction in
            guard let table = try transaction.tables.table(todo) else { return [] }
            return try transaction.column(
                "SELECT id FROM items WHERE table_id = ? AND deleted = 0 ORDER BY id", [table.id])
        }
        let theirs = try await world.backend.items(in: todo).filter { !$0.deleted }
        #expect(ids.filter { !changed.contains($0) } == theirs.map(\.id.text))
        for row in theirs where !changed.contains(row.id.text) {
            let mine = try #require(try await world.local(row.id.text))
            #expect(mine.columns == row.columns)
            let known = try await world.store.read { transaction in
                try transaction.tables.table(todo).flatMap {
                    try transaction.items.row($0, exactly: row.id)?.serverVersion
                }
            }
            #expect(known == row.version)
        }
        #expect(try await world.store.read { try $0.ledger.read().balances })
    }

    private func lists(_ world: World) -> [String] {
        world.transport.targets.filter { $0.contains("$orderby=updatedAt") }
    }

    @Test func `rows that were deleted meanwhile go, once, and leave tombstones`() async throws {
        let world = try await pulled()
        try await lose(world, "a", "b")
        let run = await world.engine.sync()
        #expect(run.state == .complete && run.pull.first?.deleted == 2, "\(run)")
        try await compare(world)
        #expect(try await world.row("a")?.deleted == true)
        // The pull had begun at the token, and then compared all.
        world.transport.forget()
        world.clock.advance(by: .seconds(60))
        #expect(await world.engine.sync().state == .complete)
        #expect(lists(world).count == 1 && lists(world)[0].contains("updatedAt%20ge"))
        // The next ones are removed while it is here.
        #expect(try await world.elsewhere("DELETE", "c") == 204)
        for _ in 0..<3 {
            world.clock.advance(by: .seconds(300))
            #expect(await world.engine.sync().state == .complete)
        }
        try await compare(world)
        world.clock.advance(by: Self.day * 91)
        try await world.backend.removeExpired()
        world.transport.forget()
        #expect(await world.engine.sync().state == .complete)
        #expect(lists(world).allSatisfy { $0.contains("updatedAt%20g") }, "\(lists(world))")
        try await compare(world)
    }

    @Test func `local changes of rows that are gone are decided by a person`() async throws {
        let world = try await pulled()
        try await world.update("a", #"{"text":"mine"}"#)
        try await world.delete("b")
        try await world.insert("new")
        try await lose(world, "a", "b", "c")
        // The pull pushes first.
        #expect(await world.engine.pull(world.todo).state == .completeWithErrors)
        let open = try await world.open()
        #expect(open.map(\.itemID) == ["a"] && open.map(\.state) == [.conflict])
        #expect(try await world.local("a")?.columns["text"] == .string("mine"))
        #expect(try await world.local("b") == nil)
        #expect(try await world.local("c") == nil)
        #expect(try await world.remote("new") != nil)
        try await compare(world, besides: ["a"])
    }

    @Test func `a comparison that is interrupted begins anew`() async throws {
        let world = try await pulled()
        try await lose(world, "a")
        // Later rows, so that pages of the comparison reach beyond the deletion.
        for number in 0..<120 { try await world.seed("n\(1000 + number)", #"{"text":"x"}"#) }
        for pages in 2...4 {
            world.transport.forget()
            world.transport.decide { [transport = world.transport] request, _ in
                transport.targets.count { $0.contains("$orderby=updatedAt") } > pages
                    ? .notSent : nil
            }
            #expect(await world.engine.pull(world.todo).state == .offline)
            #expect(try await world.local("a") != nil)
            world.clock.advance(by: .seconds(60))
        }
        world.transport.decide { _, _ in nil }
        #expect(await world.engine.pull(world.todo).state == .complete)
        try await compare(world)
    }

    @Test func `so does one that a person asked for`() async throws {
        let world = try await pulled()
        try await lose(world, "a")
        for number in 0..<120 { try await world.seed("n\(1000 + number)", #"{"text":"x"}"#) }
        world.transport.forget()
        world.transport.decide { [transport = world.transport] request, _ in
            transport.targets.count { $0.contains("$orderby=updatedAt") } > 2 ? .notSent : nil
        }
        #expect(await world.engine.pull(world.todo, reconcile: true).state == .offline)
        world.transport.decide { _, _ in nil }
        world.clock.advance(by: .seconds(60))
        #expect(await world.engine.pull(world.todo).state == .complete)
        try await compare(world)
    }

    @Test func `a filtered pull forgets the rows that are gone`() async throws {
        var options = BackendOptions(flavour: .mobileApps)
        options.kept = KeptTimes(tombstoneSeconds: 90 * 86_400)
        let world = try World(options)
        for id in ["a", "b", "c"] { try await world.seed(id, #"{"text":"x"}"#) }
        try await world.seed("other", #"{"text":"y"}"#)
        let filter = try PullQuery(parsing: "text eq 'x'")
        for _ in 0..<2 {
            world.clock.advance(by: .seconds(3600))
            let run = await world.engine.pull(world.todo, query: filter, queryID: "q")
            #expect(run.state == .complete, "\(run)")
        }
        try await lose(world, "a", "other")
        let run = await world.engine.pull(world.todo, query: filter, queryID: "q")
        #expect(run.pull.first?.deleted == 1, "\(run)")
        #expect(try await world.local("a") == nil)
        for id in ["b", "c"] { #expect(try await world.local(id) != nil) }
        world.transport.forget()
        world.clock.advance(by: .seconds(60))
        _ = await world.engine.pull(world.todo, query: filter, queryID: "q")
        #expect(lists(world).count == 1)
    }

    @Test func `a table that is copied in part loses the rows that are gone, in it or not`()
        async throws
    {
        let world = try await pulled(part: "$filter=text eq 'x'")
        #expect(try await world.elsewhere("PATCH", "b", #"{"text":"y"}"#) == 200)
        try await lose(world, "a", "b")
        let run = await world.engine.sync()
        #expect(run.state == .complete && run.pull.first?.deleted == 2, "\(run)")
        try await compare(world)
        world.transport.forget()
        world.clock.advance(by: .seconds(3600))
        #expect(await world.engine.sync().state == .complete)
        #expect(lists(world).allSatisfy { $0.contains("updatedAt%20g") }, "\(lists(world))")
    }

    @Test func `a deletion that is gone is no sign of a restored backup`() async throws {
        let world = try await pulled()
        // The latest of all rows is deleted: without a tombstone nothing tells how the backend deletes, and any
        // that is left is later.
        try await lose(world, "e")
        var run = await world.engine.pull(world.todo, reconcile: true, refusesOlder: true)
        #expect(run.state == .complete, "\(run)")
        try await compare(world)
        try await lose(world, "d")
        #expect(try await world.elsewhere("DELETE", "a") == 204)
        run = await world.engine.pull(world.todo, reconcile: true, refusesOlder: true)
        #expect(run.state == .complete, "\(run)")
        try await compare(world)
    }
}
