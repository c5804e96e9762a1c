import HTTPMessage
import HTTPTypes
import Synchronization
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Tables with a setting that sends an update although a delete follows it.
@Suite struct PreservedHistoryTests {
    private let world: World
    init() throws { world = try World() }

    private func prepare() async throws {
        try await world.insert("a", #"{"text":"old"}"#)
        _ = await world.engine.push()
        _ = try await world.store.updateTable(world.todo) { $0.preservesHistory = true }
        world.transport.forget()
    }

    @Test func `an update and the delete after it are both sent, in order`() async throws {
        try await prepare()
        try await world.update("a", #"{"text":"last words"}"#)
        try await world.delete("a")
        #expect(try await world.open().map(\.kind) == [.update, .delete])
        #expect(try await world.local("a") == nil)
        for _ in 0..<2 { _ = await world.engine.push() }
        #expect(world.writes == ["PATCH /a", "DELETE /a"])
        #expect(try await world.open().isEmpty)
        #expect(try await world.remote("a")?.columns["text"] == .string("last words"))
    }

    @Test func `an update that was not sent yet stays separate from the delete`() async throws {
        try await prepare()
        try await world.update("a", #"{"text":"last words"}"#)
        let gate = Gate()
        world.transport.once(.held(gate)) { $0.head.method == .patch }
        async let push = world.engine.push()
        await gate.waitForArrival()
        try await world.delete("a")
        gate.open()
        _ = await push
        world.transport.once(.notSent) { $0.head.method == .delete }
        for _ in 0..<3 {
            world.clock.advance(by: .seconds(700))
            _ = await world.engine.push()
        }
        #expect(try await world.open().isEmpty)
        #expect(try await world.remote("a")?.columns["text"] == .string("last words"))
    }

    /// The update has taken the newer row's version when its delete is discarded. The next update changes one
    /// column, and none of another writer's.
    @Test func `a discarded delete leaves the row that the update before it starts from`()
        async throws
    {
        try await world.insert("a", #"{"a":1,"b":1,"c":1}"#)
        _ = await world.engine.push()
        _ = try await world.store.updateTable(world.todo) { $0.preservesHistory = true }
        try await world.update("a", #"{"a":2}"#)
        try await world.delete("a")
        _ = try await world.elsewhere("PATCH", "a", #"{"c":2}"#)
        let patches = Mutex(0)
        world.transport.decide { request, _ in
            guard request.head.method == .patch else { return nil }
            return patches.withLock { patches in
                patches += 1
                return patches == 2 ? .notSent : nil
            }
        }
        _ = await world.engine.push()
        let open = try await world.open()
        #expect(open.map(\.kind) == [.update, .delete] && patches.withLock { $0 } == 2)
        _ = try await world.store.discard(try #require(open.last).id)
        #expect(try await world.local("a")?.columns["c"]?.text == "2")
        try await world.update("a", #"{"b":2}"#)
        _ = try await world.elsewhere("PATCH", "a", #"{"c":3}"#)
        for _ in 0..<2 {
            world.clock.advance(by: .seconds(700))
            _ = await world.engine.sync()
        }
        #expect(try await world.open().isEmpty)
        let row = try await world.remote("a")
        #expect(row?.columns == Columns(stored: #"{"a":2,"b":2,"c":3}"#))
        #expect(try await world.local("a")?.columns == row?.columns)
    }
}
