import HTTPMessage
import Storage
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// The operations that a forced purge discards can be restored, even before the rows are pulled again.
@Suite struct PurgeUndoTests {
    private let world: World
    init() throws { world = try World() }

    /// Three items of the backend, changed locally in three ways, and one that was never sent.
    private func makeWork() async throws {
        for id in ["updated", "deleted", "both"] { try await world.insert(id, #"{"text":"old"}"#) }
        _ = await world.engine.sync()
        try await world.update("updated", #"{"text":"mine"}"#)
        try await world.delete("deleted")
        try await world.update("both", #"{"text":"first"}"#)
        try await world.insert("inserted", #"{"text":"new"}"#)
    }

    /// Every row of every table, as SQL literals.
    private func wholeStore() async throws -> [String] {
        try await world.store.read { transaction in
            let queries: [String] = try transaction.column(
                """
                SELECT 'SELECT ' || (SELECT group_concat('quote("' || c.name || '")', '||'',''||')
                  FROM pragma_table_info(s.name) AS c) || ' FROM "' || s.name || '"'
                FROM sqlite_schema AS s
                WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite%' ORDER BY s.name
                """)
            return try queries.flatMap { query -> [String] in try transaction.column(query) }
        }
    }

    private func purgeEntry() async throws -> HistoryEntry {
        let history = try await world.store.lists.history(after: nil, limit: 50).items
        return try #require(history.first { $0.kind == .purged })
    }

    @Test func `a forced purge can be undone as a whole, even offline`()
        async throws
    {
        try await makeWork()
        let outcome = await world.engine.purge(world.todo, force: true)
        let undoable = try await purgeEntry().id
        #expect(outcome == .purged(items: 4, discarded: 4, entry: undoable))
        #expect(try await world.open().isEmpty)
        let entry = try await purgeEntry()
        #expect(entry.undoable && entry.actor == .person)
        world.transport.decide { _, _ in .notSent }
        #expect(try await world.store.undo(entry.id).outcome.isDone)
        #expect(try await world.open().map(\.kind) == [.update, .delete, .update, .insert])
        #expect(try await world.local("updated")?.columns["text"] == .string("mine"))
        #expect(try await world.local("deleted") == nil)
        #expect(try await world.local("inserted") != nil)
        #expect(try await purgeEntry().undoable == false)
        guard case .refused = try await world.store.undo(entry.id).outcome else {
            throw World.Failure("undone twice")
        }
        world.transport.decide { _, _ in nil }
        let run = await world.engine.sync()
        #expect(run.state == .complete, "\(run)")
        #expect(try await world.remote("updated")?.columns["text"] == .string("mine"))
        #expect(try await world.remote("deleted")?.deleted == true)
        #expect(try await world.remote("inserted") != nil)
        #expect(try await world.store.ledger().balances)
    }

    @Test func `a dry run counts and changes nothing`() async throws {
        try await makeWork()
        let rows = try await wholeStore()
        let outcome = await world.engine.purge(world.todo, force: true, dryRun: true)
        #expect(outcome == .purged(items: 4, discarded: 4))
        #expect(try await wholeStore() == rows)
        #expect(await world.engine.purge(world.todo, dryRun: true) == .refusedPending(4))
        let part = await world.engine.purge(
            world.todo, filter: "id eq 'updated'", force: true, dryRun: true)
        #expect(part == .purged(items: 1, discarded: 1))
        #expect(try await wholeStore() == rows)
    }

    @Test func `a change that is restored after a purge meets the backend's newer row`()
        async throws
    {
        try await makeWork()
        _ = await world.engine.purge(world.todo, force: true)
        try await world.elsewhere("PATCH", "updated", #"{"text":"theirs"}"#)
        _ = try await world.store.undo(try await purgeEntry().id).outcome
        _ = await world.engine.push()
        let conflict = try await world.store.firstConflict()
        #expect(conflict.itemID == "updated")
        #expect(try await world.remote("updated")?.columns["text"] == .string("theirs"))
    }

    @Test func `one operation can be restored alone, and the purge then restores the rest`()
        async throws
    {
        try await makeWork()
        _ = await world.engine.purge(world.todo, force: true)
        let history = try await world.store.lists.history(after: nil, limit: 50).items
        let one = try #require(
            history.first { $0.kind == .discarded && $0.itemID == "inserted" })
        _ = try await world.store.undo(one.id).outcome
        #expect(try await world.open().map(\.itemID) == ["inserted"])
        _ = try await world.store.undo(try await purgeEntry().id).outcome
        #expect(
            Set(try await world.open().map(\.itemID)) == ["inserted", "updated", "deleted", "both"])
        #expect(try await world.store.ledger().balances)
    }

    @Test func `a purge resets every token of the table, even with a filter`() async throws {
        for id in ["a", "b"] { try await world.insert(id, #"{"text":"\#(id)"}"#) }
        _ = await world.engine.sync()
        let query = try PullQuery(parsing: "text eq 'a'")
        _ = await world.engine.pull(world.todo, query: query, queryID: "mine")
        func tokens() async throws -> Int64 {
            try await world.store.read {
                try $0.integer("SELECT count(*) FROM tokens WHERE updated_at IS NOT NULL") ?? -1
            }
        }
        #expect(try await tokens() == 2)
        let outcome = await world.engine.purge(world.todo, filter: "text eq 'a'")
        #expect(outcome == .purged(items: 1, discarded: 0))
        #expect(try await tokens() == 0)
        #expect(try await world.store.tables().first?.isComplete == false)
        let run = await world.engine.sync()
        #expect(run.pull.first?.applied == 1, "\(run)")
    }
}
