import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Undelete: always with a condition, and never of what the backend does not have.
@Suite struct UndeleteConditionTests {
    private static let flavours: [BackendFlavour] = BackendFlavour.allCases

    private func undeletes(_ world: World) -> [Request] {
        world.transport.sent.filter { request in
            let path = request.head.path ?? ""
            let isOnItem = path.hasPrefix("/tables/todoitem/")
            return isOnItem
                && (request.head.method == .post
                    || path.contains("__includedeleted=true") && request.head.method == .put
                    || request.head.method == .patch)
        }
    }

    /// An item that is deleted here and there, whose tombstone's version is not known here.
    private func deleted(_ world: World) async throws {
        try await world.seed("a", #"{"text":"milk","rank":1}"#)
        _ = await world.engine.pull(world.todo)
        try await world.delete("a")
        _ = await world.pushWithoutLearning()
        world.transport.forget()
    }

    @Test(arguments: flavours, [ConflictPolicy.ask, .client])
    func `an undelete has a condition under each policy, and one that arrives late does nothing`(
        _ flavour: BackendFlavour, _ policy: ConflictPolicy
    ) async throws {
        let world = try World(flavour, TableOptions(softDelete: true))
        try await deleted(world)
        _ = try await world.store.updateTable(world.todo) {
            $0.unconditionalPolicy = policy
            $0.conflictPolicy = policy
        }
        guard case .undeleted = await world.write(.undelete(try ItemID("a"))) else {
            throw World.Failure("not brought back")
        }
        _ = await world.engine.push()
        #expect(try await world.open().isEmpty)
        #expect(try await world.remote("a")?.deleted == false)
        let sent = undeletes(world)
        #expect(!sent.isEmpty)
        #expect(sent.allSatisfy { $0.head.headerFields[.ifMatch] != nil })
        // Deleted again, the late duplicate is refused.
        try await world.delete("a")
        _ = await world.engine.push()
        for request in sent {
            let status = try await InProcessTransport(world.backend).send(request).head.status.code
            #expect(status >= 400)
        }
        #expect(try await world.remote("a")?.deleted == true)
    }

    @Test func `an undelete without an answer is read again before it is repeated`() async throws {
        let world = try World(.mobileApps, TableOptions(softDelete: true))
        try await deleted(world)
        _ = await world.write(.undelete(try ItemID("a")))
        world.transport.once(.vanished) { $0.head.method == .post }
        _ = await world.engine.push()
        #expect(try await world.open().map(\.state) == [.unknown])
        // Another writer brings it back and deletes it again: that deletion is the later one.
        #expect(try await world.elsewhere("POST", "a") == 201)
        #expect(try await world.elsewhere("DELETE", "a") < 300)
        for _ in 0..<2 {
            world.clock.advance(by: .seconds(600))
            _ = await world.engine.push()
        }
        #expect(try await world.remote("a")?.deleted == true)
        #expect(try await world.open().map(\.state) == [.conflict])
        #expect(undeletes(world).count == 1)
    }

    @Test(arguments: flavours)
    func `what a backend deleted for good is not there to be brought back by a client`(
        _ flavour: BackendFlavour
    ) async throws {
        let world = try World(flavour, TableOptions(softDelete: false))
        try await world.seed("a", #"{"text":"milk","rank":1}"#)
        _ = await world.engine.pull(world.todo)
        try await world.delete("a")
        _ = await world.engine.push()
        let id = try ItemID("a")
        for action in [
            WriteAction.undelete(id), .patch(id, Columns(), deleted: false),
            .patch(id, Columns(stored: #"{"rank":2}"#), deleted: false),
            .restore(id, Columns(stored: #"{"rank":2}"#)),
        ] {
            guard case .missing = await world.write(action) else {
                Issue.record("\(action)")
                continue
            }
        }
        #expect(try await world.open().isEmpty)
        #expect(try await world.row("a")?.deleted == true)
        // A person's undo brings it back.
        let history = try await world.store.lists.history(after: nil, limit: 10).items
        let entry = try #require(history.first { $0.undoable && $0.after == nil })
        _ = try await world.store.undo(entry.id).outcome
        _ = await world.engine.push()
        #expect(try await world.open().isEmpty)
        #expect(try await world.remote("a")?.deleted == false)
        #expect(try await world.remote("a")?.columns["text"]?.text == #""milk""#)
    }

    @Test(arguments: [ConflictPolicy.ask, .server, .client, .merge])
    func `where it is not known how the table deletes, a row that is gone is a conflict`(
        _ policy: ConflictPolicy
    ) async throws {
        let world = try World(.mobileApps, TableOptions(softDelete: false))
        try await deleted(world)
        _ = try await world.store.updateTable(world.todo) { $0.conflictPolicy = policy }
        guard case .undeleted = await world.write(.undelete(try ItemID("a"))) else {
            throw World.Failure("not brought back")
        }
        _ = await world.engine.push()
        switch policy {
        case .ask, .merge:
            #expect(try await world.remote("a") == nil)
            let conflict = try await world.store.firstConflict()
            #expect(conflict.server == nil)
            _ = try await world.store.resolve(conflict.id, revision: conflict.revision, .mine)
            _ = await world.engine.push()
            #expect(try await world.remote("a")?.columns["text"]?.text == #""milk""#)
            #expect(try await world.local("a") != nil)
        case .client: #expect(try await world.remote("a")?.deleted == false)
        case .server:
            #expect(try await world.remote("a") == nil)
            #expect(try await world.local("a") == nil)
        }
        #expect(try await world.open().isEmpty)
    }
}
