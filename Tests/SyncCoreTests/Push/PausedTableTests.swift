import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// A person pauses a table while others go on.
@Suite struct PausedTableTests {
    private func pause(_ world: World, _ pause: TablePause) async throws {
        _ = try await world.store.updateTable(world.todo) { $0.pause = pause }
    }

    @Test(arguments: [TablePause.pushes, .all])
    func `changes of a paused table stay and say why, until it is resumed`(
        _ paused: TablePause
    ) async throws {
        let world = try World()
        try await world.insert("a")
        #expect(await world.engine.sync().state == .complete)
        try await pause(world, paused)
        try await world.update("a", #"{"text":"later"}"#)
        try await world.delete("a")
        try await world.insert("b")
        world.transport.forget()
        let run = await world.engine.sync()
        #expect(run.state == .complete)
        #expect(run.reason == "2 changes stay here: a person has paused the table.")
        #expect(world.writes.isEmpty)
        let reasons = try await world.open().compactMap(\.reason)
        #expect(Set(reasons) == ["A person has paused the table todoitem."])
        // A person's retry does not pass the pause either, and nothing is due.
        #expect(await !world.engine.with { await $0.runner.outlook().hasDue })
        try await pause(world, .nothing)
        #expect(await world.engine.sync().state == .complete)
        #expect(try await world.remote("a")?.deleted ?? true)
        #expect(try await world.remote("b")?.columns == world.local("b")?.columns)
        #expect(try await world.open().isEmpty)
    }

    @Test func `a table that is paused during a push has nothing more sent`() async throws {
        let world = try World(settings: SyncSettings(triggers: [.manual], parallelism: 1))
        for number in 0..<20 { try await world.insert("i\(number)") }
        let asked = Atomic(false)
        world.transport.decide { request, _ in
            if request.head.method == .post { asked.store(true, ordering: .relaxed) }
            return nil
        }
        async let run = world.engine.push()
        while !asked.load(ordering: .relaxed) { await Task.yield() }
        try await pause(world, .pushes)
        let applied = try #require(await run.push?.applied)
        #expect((1..<20).contains(applied), "\(applied)")
        #expect(try await world.open().count == 20 - applied)
        try await pause(world, .nothing)
        #expect(await world.engine.push().push?.applied == 20 - applied)
    }

    @Test(arguments: [TablePause.pulls, .all])
    func `rows of a paused table are not fetched, and a pull says why`(
        _ paused: TablePause
    ) async throws {
        let world = try World()
        try await world.insert("a")
        #expect(await world.engine.sync().state == .complete)
        try await pause(world, paused)
        #expect(try await world.elsewhere("PATCH", "a", #"{"text":"theirs"}"#) == 200)
        let before = try await world.local("a")
        #expect(await world.engine.sync().pull.isEmpty)
        let pull = await world.engine.pull(world.todo)
        #expect(pull.state == .completeWithErrors)
        #expect(pull.pull.first?.error?.contains("paused the pulls of table todoitem") == true)
        #expect(try await world.local("a") == before)
        try await pause(world, .nothing)
        #expect(await world.engine.sync().state == .complete)
        #expect(try await world.local("a")?.columns == world.remote("a")?.columns)
    }
}
