import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Undelete of rows: no column of another writer is lost or comes back.
@Suite struct BroughtBackTests {
    /// Node refuses an insert over a deleted id, in an application of its own too.
    @Test(arguments: BackendFlavour.allCases.filter { $0 != .node && $0 != .express })
    func `an insert over a deleted id that was deleted again comes back as it was inserted`(
        _ flavour: BackendFlavour
    ) async throws {
        let world = try World(flavour, TableOptions(softDelete: true))
        try await world.insert("a", #"{"text":"old","rank":1}"#)
        _ = await world.engine.push()
        try await world.delete("a")
        _ = await world.pushWithoutLearning()
        try await world.insert("a", #"{"text":"new","note":"n"}"#)
        try await world.delete("a")
        guard case .undeleted(let item, _) = await world.write(.undelete(try ItemID("a"))) else {
            throw World.Failure("it is not brought back")
        }
        #expect(item.columns["text"]?.text == #""new""#)
        // On some backends an insert with a deleted id is a conflict.
        for _ in 0..<3 {
            _ = await world.engine.push()
            let conflicts = try await world.store.lists.conflicts(after: nil, limit: 9).items
            for one in conflicts {
                _ = try await world.store.resolve(one.id, revision: one.revision, .mine)
            }
        }
        #expect(try await world.open().isEmpty)
        let (here, there) = (try await world.local("a"), try await world.remote("a"))
        #expect(there?.deleted == false && there?.columns["text"]?.text == #""new""#)
        #expect(there?.columns["note"]?.text == #""n""#)
        #expect(here?.columns.changedNames(from: there?.columns ?? Columns()) == [])
    }

    @Test func `restoring a row keeps what others wrote since`() async throws {
        let world = try World(.toolkit, TableOptions(softDelete: true))
        try await world.insert("a", #"{"text":"milk","rank":1}"#)
        _ = await world.engine.push()
        try await world.delete("a")
        _ = await world.engine.push()
        _ = await world.write(.undelete(try ItemID("a")))
        #expect(
            try await world.send(
                "PUT", "/tables/todoitem/a?__includedeleted=true",
                #"{"id":"a","text":"milk","rank":9,"deleted":false}"#) == 200)
        _ = await world.engine.push()
        #expect(try await world.open().isEmpty)
        let there = try await world.remote("a")
        #expect(there?.deleted == false && there?.columns["rank"]?.text == "9")
        #expect(try await world.local("a")?.columns["rank"]?.text == "9")
    }

    @Test(arguments: [#"{"text":"mine"}"#, "{}"])
    func `undo of an insert that became an update does not delete the row`(_ inserted: String)
        async throws
    {
        let world = try World()
        try await world.seed("a", #"{"text":"theirs","rank":1}"#)
        _ = try await world.store.updateTable(world.todo) { $0.conflictPolicy = .client }
        try await world.insert("a", inserted)
        _ = await world.engine.push()
        #expect(try await world.open().isEmpty)
        let write = try await world.store.entry(.write)
        guard case .refused = try await world.store.undo(write.id).outcome else {
            throw World.Failure("it would delete another writer's row")
        }
        #expect(try await world.local("a")?.columns["rank"]?.text == "1")
    }

    /// An item whose last update was collapsed into its deletion before it was sent.
    private func changedAndDeleted() async throws -> World {
        let world = try World(.dotnet, TableOptions(softDelete: true))
        try await world.insert("a", #"{"text":"milk"}"#)
        _ = await world.engine.push()
        try await world.update("a", #"{"text":"bread"}"#)
        try await world.delete("a")
        _ = await world.engine.push()
        return world
    }

    @Test func `undo of a deletion restores the update that was never sent`() async throws {
        let world = try await changedAndDeleted()
        let history = try await world.store.lists.history(after: nil, limit: 9).items
        let deletion = try #require(history.first { $0.kind == .write })
        #expect(try await world.store.undo(deletion.id).outcome.isDone)
        _ = await world.engine.push()
        #expect(try await world.open().isEmpty)
        #expect(try await world.remote("a")?.columns["text"]?.text == #""bread""#)
        #expect(try await world.local("a")?.columns["text"]?.text == #""bread""#)
    }
}
