import Backend
import HTTPMessage
import HTTPTypes
import Storage
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// A backend that gives the integer id of a removed row again, as SQLite does without AUTOINCREMENT.
@Suite(.ends) struct RepeatedIDTests {
    static let flavours: [BackendFlavour] = [.mobileServices, .mobileApps, .node, .dotnet]
    /// Those whose rows say when they were created.
    static let dated: [BackendFlavour] = [.mobileApps, .node, .dotnet]

    private func world(_ flavour: BackendFlavour) async throws -> World {
        let world = try World(
            flavour, TableOptions(softDelete: false, idKind: .integer, reusesIDs: true))
        let table = world.todo
        try await world.store.write { _ = try $0.tables.make(table, idKind: .integer) }
        return world
    }

    private func add(_ text: String, _ world: World) async throws -> ItemID {
        let body = ItemBody(columns: Columns(stored: #"{"text":"\#(text)"}"#))
        guard case .inserted(let item, _) = await world.write(.insert(body)) else {
            throw World.Failure("insert of \(text)")
        }
        return item.id
    }

    private func elsewhere(
        _ world: World, _ method: String, _ id: Int? = nil, _ text: String? = nil
    ) async throws {
        let path = "/tables/todoitem" + (id.map { "/\($0)" } ?? "")
        let status = try await world.send(method, path, text.map { #"{"text":"\#($0)"}"# })
        #expect((200..<300).contains(status), "\(method) \(path)")
    }

    /// The rows of one side as text, whole but for the stamps and versions, which are each side's own.
    private func backendRows(_ world: World) async throws -> [String] {
        try await world.backend.items(in: world.todo).map {
            "\($0.id) \($0.columns.text) \($0.deleted)"
        }.sorted()
    }

    private func localRows(_ world: World) async throws -> [String] {
        let todo = world.todo
        return try await world.store.read { transaction in
            let table = try #require(try transaction.tables.table(todo))
            return try transaction.all(
                "\(ItemRow.select) WHERE table_id = ? AND deleted = 0", [table.id]
            ) { row in
                let row = try #require(ItemRow(row, idKind: .integer))
                return "\(row.id) \(row.columns.text) \(row.deleted)"
            }.sorted()
        }
    }

    /// Counts from 0.
    private final class Turns: Sendable {
        private let number = Mutex(0)
        func next() -> Int {
            number.withLock { number in
                defer { number += 1 }
                return number
            }
        }
    }

    private func posts(_ world: World) -> Int { world.writes.count { $0.hasPrefix("POST") } }

    /// Syncs until nothing can wait, and compares whole rows of both sides. Which of two requests in flight
    /// comes first is not fixed, so neither are the ids.
    /// - Parameter texts: the column `text` of the rows, sorted.
    private func expectSettled(
        _ world: World, _ texts: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for _ in 0..<4 {
            _ = await world.engine.sync()
            world.clock.advance(by: .seconds(700))
        }
        #expect(try await world.open().isEmpty, sourceLocation: sourceLocation)
        let there = try await world.backend.items(in: world.todo)
        #expect(
            there.compactMap { $0.columns["text"]?.string }.sorted() == texts,
            sourceLocation: sourceLocation)
        #expect(
            try await localRows(world) == backendRows(world), sourceLocation: sourceLocation)
        #expect(try await world.store.ledger().balances, sourceLocation: sourceLocation)
    }

    @Test(arguments: flavours, [false, true])
    func `an insert that gets the id of a deleted item is sent once, and the old id finds nothing`(
        flavour: BackendFlavour, offline: Bool
    ) async throws {
        let world = try await world(flavour)
        let old = try await add("a", world)
        _ = await world.engine.sync()
        #expect(try await world.row(old)?.id == ItemID(1))
        guard case .deleted = await world.write(.delete(old)) else {
            throw World.Failure("delete")
        }
        // Offline the delete and the insert are sent in one push.
        if !offline { _ = await world.engine.sync() }
        let new = try await add("b", world)
        #expect(new != old && (new.number ?? 0) > 0)
        try await expectSettled(world, ["b"])
        #expect(posts(world) == 2)
        let given = try await world.backend.items(in: world.todo).first?.id
        #expect(try await world.row(new)?.id == given && (offline || given == ItemID(1)))
        #expect(try await world.row(old)?.deleted ?? true)
        #expect(try await world.store.presentID(of: old, in: world.todo) == old)
        for action in [WriteAction.update(old, Columns(stored: #"{"text":"c"}"#))] {
            switch await world.write(action) {
            case .gone, .missing: break
            case let outcome: Issue.record("\(outcome)")
            }
        }
        _ = await world.write(.delete(old))
        try await expectSettled(world, ["b"])
    }

    /// The highest id is asked for before an insert is sent. That answer is no verdict on the insert.
    @Test(arguments: flavours)
    func `an insert waits while a table that was there is missing`(flavour: BackendFlavour)
        async throws
    {
        let world = try await world(flavour)
        _ = try await add("a", world)
        _ = await world.engine.sync()
        _ = try await add("b", world)
        world.transport.decide { _, _ in .instead(Response(status: .notFound)) }
        _ = await world.engine.push()
        #expect(try await world.open().allSatisfy { $0.state != .quarantined })
        world.transport.decide { _, _ in nil }
        world.clock.advance(by: .seconds(700))
        try await expectSettled(world, ["a", "b"])
        #expect(posts(world) == 2)
    }

    @Test(arguments: flavours, ["a", "b"])
    func `an insert whose answer is lost takes the id of a deleted item, and makes one row`(
        flavour: BackendFlavour, text: String
    ) async throws {
        for applies in [true, false] {
            let world = try await world(flavour)
            let old = try await add("a", world)
            _ = await world.engine.sync()
            _ = await world.write(.delete(old))
            let new = try await add(text, world)
            world.transport.once(applies ? .answerLost : .vanished) { $0.head.method == .post }
            try await expectSettled(world, [text])
            #expect(
                try await world.row(new)?.id
                    == world.backend.items(in: world.todo).first?.id)
        }
    }

    @Test(arguments: flavours)
    func `two equal inserts whose answers are lost make two rows`(flavour: BackendFlavour)
        async throws
    {
        // Of two rows that may be an insert's, a person has to choose: one of the inserts does not arrive.
        for first in [0, 1] {
            let world = try await world(flavour)
            let lost = Turns()
            _ = try await (add("a", world), add("a", world))
            world.transport.decide { request, number in
                guard request.head.method == .post, number < 6 else { return nil }
                return lost.next() % 2 == first ? .answerLost : .vanished
            }
            try await expectSettled(world, ["a", "a"])
        }
    }

    @Test(arguments: dated, [false, true])
    func `a change of a row whose id was given again meets a row that is gone`(
        flavour: BackendFlavour, pulledFirst: Bool
    ) async throws {
        let world = try await world(flavour)
        let old = try await add("a", world)
        _ = await world.engine.sync()
        _ = await world.write(.update(old, Columns(stored: #"{"text":"mine"}"#)))
        world.clock.advance(by: .seconds(1))
        try await elsewhere(world, "DELETE", 1)
        try await elsewhere(world, "POST", nil, "theirs")
        if pulledFirst {
            world.transport.once(.notSent) { $0.head.method == .patch }
        }
        _ = await world.engine.sync()
        world.clock.advance(by: .seconds(700))
        _ = await world.engine.sync()
        #expect(try await backendRows(world) == [#"1 {"text":"theirs"} false"#])
        let open = try await world.open()
        #expect(open.map(\.state) == [.conflict], "\(open)")
        let conflict = try #require(open.first)
        #expect(conflict.itemID != "1")
        // The first id of the item still finds it; the id of the row is the other writer's.
        #expect(try await world.row(old)?.columns.text == #"{"text":"mine"}"#)
        #expect(try await world.row(ItemID(1))?.columns.text == #"{"text":"theirs"}"#)
        _ = try await world.store.resolve(conflict.id, revision: conflict.revision, .mine)
        try await expectSettled(world, ["mine", "theirs"])
        #expect(try await world.row(old)?.id == ItemID(2))
    }

    @Test(arguments: dated, [false, true])
    func `a delete of a row whose id was given again leaves the other row`(
        flavour: BackendFlavour, pulledFirst: Bool
    ) async throws {
        let world = try await world(flavour)
        let old = try await add("a", world)
        _ = await world.engine.sync()
        _ = await world.write(.delete(old))
        world.clock.advance(by: .seconds(1))
        try await elsewhere(world, "DELETE", 1)
        // Also with the same columns.
        try await elsewhere(world, "POST", nil, "a")
        if pulledFirst { world.transport.once(.notSent) { $0.head.method == .delete } }
        try await expectSettled(world, ["a"])
    }

    @Test(arguments: flavours)
    func `an insert that gets the id of an item with changes leaves these as a conflict`(
        flavour: BackendFlavour
    ) async throws {
        let world = try await world(flavour)
        let old = try await add("a", world)
        _ = await world.engine.sync()
        try await elsewhere(world, "DELETE", 1)
        world.clock.advance(by: .seconds(1))
        let new = try await add("b", world)
        _ = await world.write(.update(old, Columns(stored: #"{"text":"mine"}"#)))
        // The update waits while the insert is answered.
        world.transport.decide { request, _ in request.head.method == .patch ? .notSent : nil }
        _ = await world.engine.push()
        world.transport.decide { _, _ in nil }
        world.clock.advance(by: .seconds(700))
        _ = await world.engine.sync()
        #expect(try await backendRows(world) == [#"1 {"text":"b"} false"#])
        #expect(try await world.row(new)?.id == ItemID(1))
        #expect(try await world.row(old)?.columns.text == #"{"text":"mine"}"#)
        let open = try await world.open()
        #expect(open.map(\.state) == [.conflict] && open.first?.itemID != "1", "\(open)")
        #expect(try await world.store.ledger().balances)
    }

    @Test(arguments: dated)
    func `a row that got the id of an unchanged item is another item`(flavour: BackendFlavour)
        async throws
    {
        let world = try await world(flavour)
        let old = try await add("a", world)
        _ = await world.engine.sync()
        world.clock.advance(by: .seconds(1))
        try await elsewhere(world, "DELETE", 1)
        try await elsewhere(world, "POST", nil, "theirs")
        try await expectSettled(world, ["theirs"])
        #expect(try await world.row(old)?.deleted ?? true)
    }

    @Test func `a provisional id is none that the table has, and gives way to the backend's row`()
        async throws
    {
        let fixture = try StoreFixture()
        let todo = fixture.todo
        try await fixture.store.write { _ = try $0.tables.make(todo, idKind: .integer) }
        let top = StoreLimits.largestProvisionalID
        func add(_ text: String) async throws -> ItemID {
            let body = ItemBody(columns: Columns(stored: #"{"text":"\#(text)"}"#))
            return try #require(await fixture.write(.insert(body)).item).id
        }
        func pull(_ id: Int64) async throws {
            try await fixture.pull(
                RemoteRow(id: ItemID(id), columns: Columns(stored: #"{"text":"theirs"}"#)))
        }
        try await pull(top)
        let first = try await add("first")
        #expect(first == ItemID(top - 1))
        // Another writer's row gets the provisional id.
        try await pull(top - 1)
        try await pull(top - 3)
        #expect(try await fixture.row(String(top - 1))?.columns.text == #"{"text":"theirs"}"#)
        let second = try await add("second")
        #expect(second == ItemID(top - 4))
        let moved = try await fixture.chain(String(top - 2))
        #expect(moved.map(\.kind) == [.insert])
        #expect(try await fixture.row(String(top - 2))?.columns.text == #"{"text":"first"}"#)
        // The backend gives the second insert the provisional id of the first.
        let sent = try #require(try await fixture.send())
        #expect(sent.itemID == ItemID(top - 2))
        try await fixture.settle(
            sent.seq,
            .applied(
                row: RemoteRow(id: second, columns: Columns(stored: #"{"text":"first"}"#)),
                RowOrigin()))
        #expect(try await fixture.row(second.text)?.columns.text == #"{"text":"first"}"#)
        #expect(try await fixture.chain(String(top - 5)).map(\.kind) == [.insert])
        #expect(try await fixture.store.ledger().balances)
    }
}
