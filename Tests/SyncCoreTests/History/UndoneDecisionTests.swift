import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Each decision about a row that one side deleted can be undone, before it is sent and after.
@Suite struct UndoneDecisionTests {
    /// The columns that a person sees of an item; nil if it does not exist or is deleted.
    private func visible(_ item: Item?) -> [String: String]? {
        guard let item, !item.deleted else { return nil }
        return Dictionary(
            item.columns.all.map { ($0.name, $0.value.text) }, uniquingKeysWith: { $1 })
    }

    /// Item a in conflict: one side deleted it, and the other one changed its text.
    private func collided(deleted side: String) async throws -> (World, ConflictDetail) {
        let world = try World()
        try await world.insert("a", #"{"text":"base","rank":1}"#)
        _ = await world.engine.push()
        if side == "there" {
            try await world.elsewhere("DELETE", "a")
            try await world.update("a", #"{"text":"mine"}"#)
        } else {
            try await world.elsewhere("PATCH", "a", #"{"text":"theirs"}"#)
            try await world.delete("a")
        }
        _ = await world.engine.push()
        let found = try await world.store.firstConflict()
        return (world, found)
    }

    private func resolution(_ choice: String) -> Resolution {
        switch choice {
        case "mine": .mine
        case "both": .both
        default: .edited(Columns(stored: #"{"text":"edited"}"#))
        }
    }

    private func undo(_ store: Store) async throws -> ActionOutcome {
        let entries = try await store.lists.history(after: nil, limit: 50).items
        let decision = try #require(entries.first { $0.kind == .resolved && $0.undoable })
        return try await store.undo(decision.id).outcome
    }

    private func pushAll(_ world: World) async {
        for _ in 0..<4 { _ = await world.engine.push() }
    }

    /// The conflict of item a with the revision and the id of another one.
    private func conflict(_ world: World, as other: ConflictDetail) async throws -> ConflictDetail {
        let all = try await world.store.lists.conflicts(after: nil, limit: 9).items
        #expect(all.count == 1)
        var found = try #require(all.first)
        found.revision = other.revision
        found.id = other.id
        return found
    }

    @Test(arguments: ["mine", "edited", "both"], ["there", "here"])
    func `undone before it is sent, the conflict is as it was`(
        _ choice: String, _ side: String
    ) async throws {
        let (world, found) = try await collided(deleted: side)
        let here = visible(try await world.row("a"))
        let there = try #require(try await world.remote("a"))
        let outcome = try await world.store.resolve(
            found.id, revision: found.revision, resolution(choice))
        guard case .done = outcome else {
            #expect(choice == "both" && side == "here", "\(outcome)")
            return
        }
        let undone = try await undo(world.store)
        #expect(undone.isDone)
        #expect(try await conflict(world, as: found) == found)
        #expect(visible(try await world.row("a")) == here)
        #expect(try await world.open().map(\.state) == [.conflict])
        #expect(try await world.store.tables().first?.items == (here == nil ? 0 : 1))
        world.transport.forget()
        await pushAll(world)
        #expect(world.writes == [])
        #expect(try await world.remote("a") == there)
        #expect(try await world.store.ledger().balances)
    }

    @Test(arguments: ["mine", "edited"], ["there", "here"])
    func `undone after it was sent, both sides show what the backend had`(
        _ choice: String, _ side: String
    ) async throws {
        let (world, found) = try await collided(deleted: side)
        let had = visible(try await world.remote("a"))
        #expect(had == (side == "there" ? nil : ["text": #""theirs""#, "rank": "1"]))
        _ = try await world.store.resolve(
            found.id, revision: found.revision, resolution(choice))
        await pushAll(world)
        #expect(try await world.open().isEmpty)
        let text = choice == "edited" ? #""edited""# : #""mine""#
        let decided: [String: String]? =
            choice == "mine" && side == "here" ? nil : ["text": text, "rank": "1"]
        #expect(visible(try await world.remote("a")) == decided)
        let undone = try await undo(world.store)
        guard case .done(let operation?) = undone else { throw World.Failure("\(undone)") }
        #expect(operation.state == .queued)
        await pushAll(world)
        #expect(try await world.open().isEmpty)
        #expect(visible(try await world.remote("a")) == had)
        #expect(visible(try await world.row("a")) == had)
        #expect(try await world.store.ledger().balances)
    }

    @Test func `"keep both" of a row deleted there, undone after the copy was sent`() async throws {
        let (world, found) = try await collided(deleted: "there")
        let here = visible(try await world.row("a"))
        let there = try #require(try await world.remote("a"))
        _ = try await world.store.resolve(found.id, revision: found.revision, .both)
        await pushAll(world)
        #expect(try await world.open().isEmpty)
        let undone = try await undo(world.store)
        #expect(undone.isDone)
        await pushAll(world)
        #expect(try await conflict(world, as: found) == found)
        #expect(visible(try await world.row("a")) == here)
        #expect(try await world.remote("a") == there)
        #expect(try await world.store.ledger().balances)
    }

    @Test func `a row that another writer changed since is not deleted by the undo`() async throws {
        let (world, found) = try await collided(deleted: "there")
        _ = try await world.store.resolve(found.id, revision: found.revision, .mine)
        await pushAll(world)
        try await world.elsewhere("PATCH", "a", #"{"rank":9}"#)
        _ = await world.engine.sync()
        guard case .done(let operation?) = try await undo(world.store) else {
            throw World.Failure("it is not for a person to decide")
        }
        #expect(operation.kind == .delete && operation.state == .conflict)
        await pushAll(world)
        #expect(visible(try await world.remote("a")) == ["text": #""mine""#, "rank": "9"])
        #expect(try await world.store.ledger().balances)
    }

    /// Item a, whose x was changed here, and which the backend deleted.
    private func deletedThere(_ fixture: StoreFixture) async throws -> TableOperation {
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":1}"#, version: "v1"))
        try await fixture.update("a", #"{"x":2}"#)
        let gone = try fixture.remote("a", #"{"x":1,"y":1}"#, version: "v22", deleted: true)
        try await fixture.push { _ in .conflict(server: gone, reason: "Deleted.") }
        return try #require(try await fixture.chain("a").first)
    }

    @Test func `the decision's own second operation closes, and a later write stays`() async throws
    {
        let fixture = try StoreFixture()
        let conflict = try await deletedThere(fixture)
        _ = try await fixture.store.resolve(conflict.id, revision: conflict.revision, .mine)
        #expect(try await fixture.chain("a").map(\.kind) == [.undelete, .update])
        try await fixture.update("a", #"{"y":5}"#)
        #expect(try await fixture.chain("a").count == 2)
        let undone = try await undo(fixture.store)
        #expect(undone.isDone)
        let chain = try await fixture.chain("a")
        #expect(chain.map(\.id) == [conflict.id] && chain.map(\.state) == [.conflict])
        let again = try #require(try await fixture.store.lists.conflict(conflict.id))
        #expect(again.kind == .update && again.reason == "Deleted." && again.serverDeleted)
        #expect(again.base?.text == #"{"x":1,"y":1}"#)
        #expect(again.mine?.text == #"{"x":2,"y":5}"#)
        #expect(again.server?.text == #"{"x":1,"y":1}"#)
        let ledger = try await fixture.store.ledger()
        #expect(ledger.balances && ledger.queue.open == 1 && ledger.queue.conflict == 1)
        // Two writes and the second operation of the decision.
        #expect(ledger.accepted == 3 && ledger.collapsed == 2)
    }

    @Test(arguments: [true, false])
    func `a later operation of a client keeps the decision from being undone`(
        _ hasSecond: Bool
    ) async throws {
        let fixture = try StoreFixture()
        let conflict = try await deletedThere(fixture)
        let decision: Resolution =
            hasSecond ? .mine : .edited(Columns(stored: #"{"x":1,"y":1}"#))
        _ = try await fixture.store.resolve(
            conflict.id, revision: conflict.revision, decision)
        if hasSecond {
            _ = try await fixture.store.updateTable(fixture.todo) { $0.preservesHistory = true }
            try await fixture.delete("a")
        } else {
            try await fixture.update("a", #"{"x":7}"#)
        }
        let before = try await fixture.chain("a")
        #expect(
            before.map(\.kind)
                == (hasSecond ? [.undelete, .update, .delete] : [.undelete, .update]))
        #expect(
            try await undo(fixture.store)
                == .refused(
                    reason: "A later change of the item follows it: discard that one first."))
        #expect(try await fixture.chain("a") == before)
        #expect(try await fixture.store.ledger().balances)
    }

    @Test func `the conflict that is opened again has the backend's newer row`() async throws {
        let fixture = try StoreFixture()
        let conflict = try await deletedThere(fixture)
        _ = try await fixture.store.resolve(conflict.id, revision: conflict.revision, .mine)
        try await fixture.pull(fixture.remote("a", #"{"x":1,"y":9}"#, version: "v333"))
        let undone = try await undo(fixture.store)
        #expect(undone.isDone)
        let again = try #require(try await fixture.store.lists.conflict(conflict.id))
        #expect(again.mine?.text == #"{"x":2,"y":1}"#)
        #expect(again.server?.text == #"{"x":1,"y":9}"# && !again.serverDeleted)
        #expect(try await fixture.chain("a").map(\.state) == [.conflict])
        #expect(try await fixture.store.ledger().balances)
    }

    @Test func `a row that another writer brought back is not deleted by the undo`() async throws {
        let fixture = try StoreFixture()
        let conflict = try await deletedThere(fixture)
        _ = try await fixture.store.resolve(conflict.id, revision: conflict.revision, .mine)
        let theirs = try fixture.remote("a", #"{"x":1,"y":1}"#, version: "v333")
        try await fixture.push { _ in .rebased(onto: theirs, reason: "It is there again.") }
        #expect(try await fixture.chain("a").map(\.kind) == [.update])
        #expect(
            try await undo(fixture.store)
                == .refused(
                    reason:
                        "The backend had the item again before this was sent. Delete it instead."))
        #expect(try await fixture.row("a")?.visible?.text == #"{"x":2,"y":1}"#)
        #expect(try await fixture.chain("a").map(\.kind) == [.update])
    }
}
