import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// An update that a delete follows before either is sent: the update's values are not lost.
@Suite struct MergedUpdateTests {
    struct Case: Sendable, CustomStringConvertible {
        var flavour: BackendFlavour
        var isReplacement: Bool
        var isConditional: Bool
        var description: String {
            "\(flavour.rawValue)\(isReplacement ? " PUT" : " PATCH")\(isConditional ? " If-Match" : "")"
        }
    }

    static let cases = BackendFlavour.allCases.flatMap { flavour in
        [false, true].flatMap { put in
            [false, true].map {
                Case(flavour: flavour, isReplacement: put, isConditional: $0)
            }
        }
    }

    /// A backend with a row, which is here too.
    /// - Parameter isKnown: whether the backend has shown another row as deleted.
    static func world(_ flavour: BackendFlavour, isSoft: Bool = true, isKnown: Bool) async throws
        -> World
    {
        let world = try World(flavour, TableOptions(softDelete: isSoft))
        try await world.insert("a", #"{"text":"milk","rank":1,"note":"n"}"#)
        try await world.insert("b")
        _ = await world.engine.push()
        if isKnown {
            try await world.delete("b")
            _ = await world.engine.push()
            _ = await world.engine.pull(world.todo)
        }
        world.transport.forget()
        return world
    }

    private func changeAndDelete(_ world: World, _ it: Case) async throws {
        let id = try ItemID("a")
        let version = try #require(try await world.row("a")?.version)
        let columns =
            it.isReplacement
            ? #"{"text":"bread","rank":2,"note":"n"}"# : #"{"text":"bread","rank":2}"#
        let outcome = await world.write(
            it.isReplacement
                ? .replace(id, Columns(stored: columns)) : .update(id, Columns(stored: columns)),
            ifMatch: it.isConditional ? .versions([version]) : .absent)
        guard case .updated(let item, _) = outcome else { throw World.Failure("\(outcome)") }
        let deleted = await world.write(
            .delete(id), ifMatch: it.isConditional ? .versions([item.version]) : .absent)
        guard case .deleted = deleted else { throw World.Failure("\(deleted)") }
    }

    /// Both sides have the same row, with these columns.
    static func expectBoth(
        _ world: World, deleted: Bool, _ columns: String, at line: SourceLocation = #_sourceLocation
    ) async throws {
        let (here, there) = (try await world.row("a"), try await world.remote("a"))
        let expected = Columns(stored: columns)
        #expect(here?.deleted == deleted && there?.deleted == deleted, sourceLocation: line)
        #expect(here?.columns.changedNames(from: expected) == [], sourceLocation: line)
        #expect(there?.columns.changedNames(from: expected) == [], sourceLocation: line)
        #expect(try await world.open().map(\.reason) == [], sourceLocation: line)
        let ledger = try await world.store.ledger()
        #expect(ledger.balances, sourceLocation: line)
    }

    private func sync(_ world: World) async {
        for _ in 0..<3 { _ = await world.engine.push() }
        _ = await world.engine.pull(world.todo)
    }

    @Test(arguments: cases)
    func `a table that deletes softly gets the update before the delete`(_ it: Case) async throws {
        let world = try await Self.world(it.flavour, isKnown: true)
        try await changeAndDelete(world, it)
        await sync(world)
        let verb = it.flavour == .datasync || it.flavour == .toolkit ? "PUT" : "PATCH"
        #expect(world.writes.map { $0.prefix { $0 != "/" } } == ["\(verb) ", "DELETE "])
        let changed = #"{"text":"bread","rank":2,"note":"n"}"#
        try await Self.expectBoth(world, deleted: true, changed)
        _ = await world.write(.undelete(try ItemID("a")))
        await sync(world)
        try await Self.expectBoth(world, deleted: false, changed)
    }

    @Test(arguments: cases)
    func `where that is not known, an undelete sends what was merged into the delete`(_ it: Case)
        async throws
    {
        let world = try await Self.world(it.flavour, isKnown: false)
        try await changeAndDelete(world, it)
        for _ in 0..<3 { _ = await world.engine.push() }
        #expect(world.writes.map { $0.prefix { $0 != "/" } } == ["DELETE "])
        try await Self.expectBoth(world, deleted: true, #"{"text":"milk","rank":1,"note":"n"}"#)
        // A pull of the tombstone keeps what is not sent.
        _ = await world.engine.pull(world.todo)
        let undeleted = await world.write(.undelete(try ItemID("a")))
        let changed = Columns(stored: #"{"text":"bread","rank":2,"note":"n"}"#)
        #expect(undeleted.item?.columns.changedNames(from: changed) == [])
        await sync(world)
        try await Self.expectBoth(world, deleted: false, changed.text)
    }

    @Test func `a restart between delete and undelete forgets nothing`() async throws {
        let world = try await Self.world(.mobileApps, isKnown: false)
        try await changeAndDelete(
            world, Case(flavour: .mobileApps, isReplacement: false, isConditional: false))
        _ = await world.engine.push()
        try world.store.close()
        let (store, engine) = try world.reborn()
        _ = await store.submit(
            LocalWrite(table: world.todo, action: .undelete(try ItemID("a"))))
        for _ in 0..<3 { _ = await engine.push() }
        #expect(try await world.remote("a")?.columns["text"]?.text == #""bread""#)
    }

    @Test func `an undelete behind a delete that is being sent sends it too`() async throws {
        let world = try await Self.world(.node, isKnown: false)
        try await changeAndDelete(
            world, Case(flavour: .node, isReplacement: false, isConditional: false))
        let gate = Gate()
        world.transport.once(.held(gate)) { $0.head.method == .delete }
        async let push = world.engine.push()
        await gate.waitForArrival()
        _ = await world.write(.undelete(try ItemID("a")))
        gate.open()
        _ = await push
        await sync(world)
        try await Self.expectBoth(world, deleted: false, #"{"text":"bread","rank":2,"note":"n"}"#)
    }

    @Test(arguments: [1, 2, 3])
    func `what is deleted and undeleted again and again keeps it`(_ times: Int) async throws {
        let world = try await Self.world(.mobileApps, isKnown: false)
        try await changeAndDelete(
            world, Case(flavour: .mobileApps, isReplacement: false, isConditional: false))
        for _ in 0..<3 { _ = await world.engine.push() }
        for _ in 0..<times {
            _ = await world.write(.undelete(try ItemID("a")))
            try await world.delete("a")
        }
        for _ in 0..<3 { _ = await world.engine.push() }
        #expect(try await world.open().isEmpty)
        #expect(try await world.row("a")?.deleted == true)
        _ = await world.write(.undelete(try ItemID("a")))
        await sync(world)
        try await Self.expectBoth(world, deleted: false, #"{"text":"bread","rank":2,"note":"n"}"#)
    }

    @Test func `a value that another writer gave the column since is a conflict`() async throws {
        let world = try await Self.world(.mobileApps, isKnown: false)
        try await changeAndDelete(
            world, Case(flavour: .mobileApps, isReplacement: false, isConditional: false))
        for _ in 0..<3 { _ = await world.engine.push() }
        #expect(try await world.elsewhere("POST", "a") == 201)
        #expect(try await world.elsewhere("PATCH", "a", #"{"text":"theirs"}"#) == 200)
        #expect(try await world.elsewhere("DELETE", "a") == 204)
        _ = await world.engine.pull(world.todo)
        _ = await world.write(.undelete(try ItemID("a")))
        for _ in 0..<3 { _ = await world.engine.push() }
        #expect(try await world.remote("a")?.columns["text"]?.text == #""theirs""#)
        #expect(try await world.open().map(\.state) == [.conflict])
    }

    @Test func `an item that another writer brought back has that writer's values`() async throws {
        let world = try await Self.world(.mobileApps, isKnown: false)
        try await changeAndDelete(
            world, Case(flavour: .mobileApps, isReplacement: false, isConditional: false))
        for _ in 0..<3 { _ = await world.engine.push() }
        #expect(try await world.elsewhere("POST", "a") == 201)
        await sync(world)
        try await world.delete("a")
        await sync(world)
        _ = await world.write(.undelete(try ItemID("a")))
        await sync(world)
        try await Self.expectBoth(world, deleted: false, #"{"text":"milk","rank":1,"note":"n"}"#)
    }
}
