import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Changes that go from the store of clients without a sign-in to that of a user.
@Suite struct HandoverTests {
    /// A world, and beside it the store and the engine of a user.
    private struct Pair {
        let world: World
        let user: Store
        let engine: SyncEngine

        init() throws {
            world = try World()
            (user, engine) = try world.reborn(file: "user.sqlite")
        }

        var giver: Store { world.store }

        /// Gives all that waits.
        func give() async throws -> Int {
            let taken = try await begin()
            try await giver.finishHandovers(with: user)
            return taken
        }

        /// The first step alone.
        func begin() async throws -> Int {
            try await giver.handOver(
                .unsigned(all: true), to: user, noting: giver, isDryRun: false
            ).taken
        }

        /// Takes back what was not sent.
        func undo() async throws -> Int {
            let counts = try await user.handOver(
                .brought, to: giver, noting: giver, isDryRun: false)
            try await giver.finishHandovers(with: user)
            return counts.taken
        }

        func open(_ store: Store) async throws -> [OperationSummary] {
            try await store.lists.operations(
                OperationFilter(states: OperationState.open), after: nil, limit: 100
            ).items
        }

        func row(_ id: String, in store: Store) async throws -> Item? {
            let (todo, id) = (world.todo, try ItemID(id))
            return try await store.read { transaction in
                try transaction.tables.table(todo).flatMap {
                    try transaction.items.row($0, id)?.item
                }
            }
        }

        func balances() async throws -> Bool {
            let (one, other) = (try await giver.ledger(), try await user.ledger())
            return one.balances && other.balances
        }
    }

    @Test func `what waits goes whole and in its order, and is sent once`() async throws {
        let pair = try Pair()
        try await pair.world.seed("old", #"{"text":"theirs","rank":1}"#)
        _ = await pair.world.engine.pull(pair.world.todo)
        _ = await pair.engine.pull(pair.world.todo)
        for number in 0..<3 {
            try await pair.world.insert("n\(number)", #"{"text":"\#(number)","rank":null}"#)
        }
        try await pair.world.update("old", #"{"text":"mine"}"#)
        try await pair.world.update("n1", #"{"rank":5}"#)
        let before = try await pair.open(pair.giver)
        #expect(try await pair.give() == 5)
        #expect(try await pair.open(pair.giver).isEmpty)
        let after = try await pair.open(pair.user)
        #expect(after.map(\.itemID) == before.map(\.itemID))
        #expect(after.map(\.kind) == before.map(\.kind))
        #expect(after.map(\.changedColumns) == before.map(\.changedColumns))
        #expect(try await pair.balances())
        #expect(try await pair.row("n0", in: pair.giver)?.deleted == true)
        #expect(try await pair.row("old", in: pair.giver)?.columns["text"]?.string == "theirs")
        #expect(await pair.engine.push().push?.applied == 5)
        for id in ["n0", "n1", "n2", "old"] {
            let (here, there) = (
                try await pair.row(id, in: pair.user), try await pair.world.remote(id)
            )
            #expect(here?.columns.text == there?.columns.text, "\(id)")
        }
        #expect(try await pair.world.remote("old")?.columns.text == #"{"text":"mine","rank":1}"#)
        // The change of n1 stands behind the insert of n2.
        for (id, effects) in [("n0", 1), ("n1", 2), ("n2", 1)] {
            #expect(try await pair.world.backend.effectCount(pair.world.todo, id) == effects)
        }
    }

    @Test func `another writer's change in between is a conflict of the user`() async throws {
        let pair = try Pair()
        try await pair.world.seed("a", #"{"text":"old","rank":1}"#)
        _ = await pair.world.engine.pull(pair.world.todo)
        try await pair.world.update("a", #"{"text":"mine"}"#)
        try await pair.world.elsewhere("PATCH", "a", #"{"text":"theirs"}"#)
        _ = await pair.engine.pull(pair.world.todo)
        #expect(try await pair.give() == 1)
        _ = await pair.engine.push()
        #expect(try await pair.open(pair.user).map(\.state) == [.conflict])
        #expect(try await pair.world.remote("a")?.columns.text == #"{"text":"theirs","rank":1}"#)
        #expect(try await pair.balances())
    }

    @Test(arguments: 1...3)
    func `a crash after any step loses nothing and writes nothing twice`(step: Int) async throws {
        let pair = try Pair()
        for number in 0..<5 { try await pair.world.insert("n\(number)") }
        #expect(try await pair.begin() == 5)
        if step >= 2 {
            let given = try #require(
                try await pair.giver.read { try HandingOver(transaction: $0).given() })
            _ = try await pair.user.write {
                try HandingOver(transaction: $0).take(given, WriteRules())
            }
        }
        if step == 3 { try await pair.giver.finishHandovers(with: pair.user) }
        // Time passes, and what is closed is removed, before another process goes on.
        pair.world.clock.advance(by: .seconds(365 * 86_400))
        while try await pair.giver.write({ try Sweep(transaction: $0).run() }) {}
        let (giver, _) = try pair.world.reborn()
        let (user, engine) = try pair.world.reborn(file: "user.sqlite")
        try await giver.finishHandovers(with: user)
        try await giver.finishHandovers(with: user)
        #expect(try await pair.open(user).map(\.itemID) == (0..<5).map { "n\($0)" })
        #expect(try await pair.open(giver).isEmpty)
        #expect(try await giver.ledger().balances)
        #expect(try await user.ledger().balances)
        #expect(await engine.push().push?.applied == 5)
        for number in 0..<5 {
            #expect(try await pair.world.backend.effectCount(pair.world.todo, "n\(number)") == 1)
        }
    }

    @Test func `what the user's store refuses stays, also if it is refused at the last moment`()
        async throws
    {
        let pair = try Pair()
        try await pair.world.insert("taken", #"{"text":"without"}"#)
        try await pair.world.insert("free", #"{"text":"free"}"#)
        let body = ItemBody(id: try ItemID("taken"), columns: Columns(stored: #"{"text":"own"}"#))
        let write = LocalWrite(table: pair.world.todo, action: .insert(body))
        #expect(await pair.user.submit(write).isSuccess)
        #expect(try await pair.give() == 1)
        #expect(try await pair.open(pair.giver).map(\.itemID) == ["taken"])
        #expect(try await pair.row("taken", in: pair.giver)?.columns.text == #"{"text":"without"}"#)
        #expect(try await pair.row("taken", in: pair.user)?.columns.text == #"{"text":"own"}"#)
        // The user writes the item while it is on its way.
        try await pair.world.insert("late", #"{"text":"without"}"#)
        #expect(try await pair.begin() == 1)
        let late = ItemBody(id: try ItemID("late"), columns: Columns(stored: #"{"text":"own"}"#))
        #expect(
            await pair.user.submit(LocalWrite(table: pair.world.todo, action: .insert(late)))
                .isSuccess)
        try await pair.giver.finishHandovers(with: pair.user)
        #expect(try await pair.open(pair.giver).map(\.itemID) == ["taken", "late"])
        #expect(try await pair.row("late", in: pair.giver)?.columns.text == #"{"text":"without"}"#)
        #expect(try await pair.balances())
    }

    @Test func `it can be taken back until it is sent`() async throws {
        let pair = try Pair()
        for number in 0..<3 { try await pair.world.insert("n\(number)", #"{"text":"\#(number)"}"#) }
        #expect(try await pair.give() == 3)
        let body = ItemBody(id: try ItemID("own"), columns: Columns(stored: #"{"text":"own"}"#))
        #expect(
            await pair.user.submit(LocalWrite(table: pair.world.todo, action: .insert(body)))
                .isSuccess)
        #expect(try await pair.undo() == 3)
        #expect(try await pair.open(pair.giver).map(\.itemID) == ["n0", "n1", "n2"])
        #expect(try await pair.open(pair.user).map(\.itemID) == ["own"])
        #expect(try await pair.row("n1", in: pair.giver)?.columns.text == #"{"text":"1"}"#)
        #expect(try await pair.balances())
        #expect(try await pair.give() == 3)
        _ = await pair.engine.push()
        #expect(try await pair.undo() == 0)
    }

    @Test func `an operation that may have reached the backend stays`() async throws {
        let pair = try Pair()
        try await pair.world.insert("sent")
        pair.world.transport.decide { request, _ in
            request.head.method == .post ? .vanished : nil
        }
        _ = await pair.world.engine.push()
        pair.world.transport.decide { _, _ in nil }
        try await pair.world.insert("new")
        #expect(try await pair.open(pair.giver).first?.maybeApplied == true)
        #expect(try await pair.give() == 1)
        #expect(try await pair.open(pair.giver).map(\.itemID) == ["sent"])
        #expect(try await pair.open(pair.user).map(\.itemID) == ["new"])
    }
}
