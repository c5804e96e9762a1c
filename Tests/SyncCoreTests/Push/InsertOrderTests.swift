import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// An update may name an item that was inserted after its own item. So it is sent after both inserts.
@Suite struct InsertOrderTests {
    private static func columns(_ text: String) -> Columns { Columns(stored: text) }

    /// Both sides have the same rows, and the queue is empty.
    private func expectSame(
        _ world: World, _ rows: [String: String], at line: SourceLocation = #_sourceLocation
    ) async throws {
        for (id, text) in rows {
            let (here, there) = (try await world.row(id), try await world.remote(id))
            #expect(here?.deleted == false && there?.deleted == false, sourceLocation: line)
            let expected = Columns(stored: text)
            #expect(here?.columns.changedNames(from: expected) == [], sourceLocation: line)
            #expect(there?.columns.changedNames(from: expected) == [], sourceLocation: line)
        }
        #expect(try await world.open().map(\.reason) == [], sourceLocation: line)
        #expect(try await world.store.ledger().balances, sourceLocation: line)
    }

    private func kinds(_ world: World) async throws -> [String] {
        try await world.open().sorted { $0.seq < $1.seq }.map { "\($0.kind) \($0.itemID)" }
    }

    @Test(arguments: BackendFlavour.allCases, [false, true])
    func `an update goes after an insert that came before it`(
        _ flavour: BackendFlavour, isReplacement: Bool
    ) async throws {
        let world = try World(BackendOptions(flavour: flavour))
        try await world.insert("o", #"{"text":"order"}"#)
        try await world.insert("c", #"{"text":"client"}"#)
        let columns = Self.columns(#"{"text":"order","client":"c"}"#)
        let id = try ItemID("o")
        _ = await world.write(
            isReplacement ? .replace(id, columns) : .update(id, Columns(stored: #"{"client":"c"}"#))
        )
        #expect(
            try await kinds(world) == [
                "insert o", "insert c", "\(isReplacement ? "replace" : "update") o",
            ])
        for _ in 0..<2 { _ = await world.engine.push() }
        let changed = world.writes.map { String($0.prefix { $0 != "?" }) }
        #expect(changed.count == 3 && changed[0] == "POST " && changed[1] == "POST ")
        #expect(changed.last?.hasSuffix("/o") == true)
        try await expectSame(
            world, ["o": #"{"text":"order","client":"c"}"#, "c": #"{"text":"client"}"#])
    }

    @Test func `further updates are merged until the next insert`() async throws {
        let world = try World()
        try await world.insert("o", "{}")
        try await world.update("o", #"{"a":1}"#)
        try await world.insert("c", "{}")
        try await world.update("o", #"{"b":"c"}"#)
        try await world.update("o", #"{"a":2}"#)
        try await world.update("c", #"{"n":1}"#)
        #expect(try await kinds(world) == ["insert o", "insert c", "update o"])
        try await world.insert("d", "{}")
        try await world.update("o", #"{"b":"d"}"#)
        try await world.update("c", #"{"n":2}"#)
        #expect(
            try await kinds(world) == [
                "insert o", "insert c", "update o", "insert d", "update o", "update c",
            ])
        for _ in 0..<3 { _ = await world.engine.push() }
        #expect(world.writes == ["POST ", "POST ", "PATCH /o", "POST ", "PATCH /o", "PATCH /c"])
        try await expectSame(
            world, ["o": #"{"a":2,"b":"d"}"#, "c": #"{"n":2}"#, "d": "{}"])
    }

    @Test func `an insert that is settled holds no update apart`() async throws {
        let world = try World()
        try await world.insert("c", "{}")
        _ = await world.engine.push()
        try await world.insert("o", "{}")
        try await world.update("o", #"{"b":"c"}"#)
        #expect(try await kinds(world) == ["insert o"])
        try await expectPushed(world, ["o": #"{"b":"c"}"#])
    }

    private func expectPushed(_ world: World, _ rows: [String: String]) async throws {
        for _ in 0..<3 {
            world.clock.advance(by: .seconds(700))
            _ = await world.engine.push()
        }
        try await expectSame(world, rows)
    }

    @Test func `a request that was not sent moves no update back`() async throws {
        let world = try World()
        try await world.insert("o", "{}")
        try await world.insert("c", "{}")
        try await world.update("o", #"{"b":"c"}"#)
        world.transport.once(.notSent) { $0.head.method == .post }
        _ = await world.engine.push()
        #expect(try await kinds(world).contains("update o"))
        world.transport.forget()
        try await expectPushed(world, ["o": #"{"b":"c"}"#, "c": "{}"])
        #expect(world.writes.last == "PATCH /o")
    }

    @Test func `a delete cancels an insert that was never sent, with the updates kept apart`()
        async throws
    {
        let world = try World()
        try await world.insert("o", "{}")
        try await world.insert("c", "{}")
        try await world.update("o", #"{"b":"c"}"#)
        try await world.insert("d", "{}")
        try await world.update("o", #"{"b":"d"}"#)
        try await world.delete("o")
        #expect(try await kinds(world) == ["insert c", "insert d"])
        try await expectPushed(world, ["c": "{}", "d": "{}"])
        #expect(world.writes == ["POST ", "POST "])
        // What was never sent comes back as it was.
        _ = await world.write(.undelete(try ItemID("o")))
        try await expectPushed(world, ["o": #"{"b":"d"}"#])
    }

    @Test(arguments: [true, false])
    func `a delete follows the updates that were kept apart`(isSoft: Bool) async throws {
        let world = try await MergedUpdateTests.world(
            .mobileApps, isSoft: isSoft, isKnown: isSoft)
        try await world.update("a", #"{"text":"bread"}"#)
        try await world.insert("c", "{}")
        try await world.update("a", #"{"rank":2}"#)
        try await world.delete("a")
        for _ in 0..<3 { _ = await world.engine.push() }
        #expect(
            world.writes
                == (isSoft
                    ? ["PATCH /a", "POST ", "PATCH /a", "DELETE /a"] : ["DELETE /a", "POST "]))
        #expect(try await world.open().isEmpty)
        _ = await world.engine.pull(world.todo)
        if isSoft {
            try await MergedUpdateTests.expectBoth(
                world, deleted: true, #"{"text":"bread","rank":2,"note":"n"}"#)
        }
    }

    @Test func `a delete keeps an insert that is being sent before updates that undo each other`()
        async throws
    {
        let world = try World()
        try await world.insert("o", #"{"a":1}"#)
        let gate = Gate()
        world.transport.once(.held(gate)) { $0.head.method == .post }
        async let push = world.engine.push()
        await gate.waitForArrival()
        try await world.update("o", #"{"a":2}"#)
        try await world.insert("c", "{}")
        try await world.update("o", #"{"a":1}"#)
        try await world.delete("o")
        gate.open()
        _ = await push
        for _ in 0..<3 { _ = await world.engine.push() }
        #expect(try await world.open().isEmpty)
        #expect(try await world.row("o")?.deleted == true)
        #expect(try await world.remote("o")?.deleted != false)
        #expect(try await world.store.ledger().balances)
    }

    @Test func `an edited operation stays where it is`() async throws {
        let world = try World()
        try await world.insert("o", #"{"a":1}"#)
        try await world.insert("c", "{}")
        let first = try #require(try await world.open().first { $0.itemID == "o" })
        let outcome = try await world.store.edit(
            first.id, revision: first.revision, columns: Columns(stored: #"{"a":2}"#))
        guard case .done(let edited?) = outcome else { throw World.Failure("\(outcome)") }
        #expect(edited.id == first.id && edited.revision > first.revision)
        #expect(try await kinds(world) == ["insert o", "insert c"])
    }

    @Test func `undo of an update that was kept apart leaves nothing to send`() async throws {
        let world = try World()
        try await world.insert("o", #"{"b":"x"}"#)
        try await world.insert("c", "{}")
        try await world.update("o", #"{"b":"c"}"#)
        try await world.insert("d", "{}")
        let entry = try #require(
            try await world.store.lists.history(after: nil, limit: 9).items.first {
                $0.kind == .write && $0.summary == "Changed b."
            })
        #expect(try await world.store.undo(entry.id).outcome.isDone)
        #expect(try await kinds(world) == ["insert o", "insert c", "insert d"])
        try await expectPushed(world, ["o": #"{"b":"x"}"#])
    }

    /// Every write reads its item's operations, so their number is bounded.
    @Test func `many inserts and updates in turn stay few operations of an item`() async throws {
        let world = try World()
        try await world.insert("o", "{}")
        for number in 0..<60 {
            try await world.insert("c\(number)", "{}")
            try await world.update("o", #"{"b":"c\#(number)","n\#(number)":1}"#)
        }
        let own = try await world.store.lists.operations(
            OperationFilter(states: OperationState.open), after: nil, limit: 500
        ).items.filter { $0.itemID == "o" }
        #expect(own.count == StoreLimits.operationsOfItem)
        #expect(try await world.store.ledger().balances)
        for _ in 0..<3 { _ = await world.engine.push() }
        let last = try #require(world.writes.lastIndex { $0 == "PATCH /o" })
        #expect(last == world.writes.count - 1)
        var expected = Columns(stored: #"{"b":"c59"}"#)
        for number in 0..<60 { expected["n\(number)"] = .integer(1) }
        try await expectSame(world, ["o": expected.text])
    }
}
