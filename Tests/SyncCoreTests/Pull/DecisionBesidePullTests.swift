import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Decisions and purges while a page is in flight.
@Suite struct DecisionBesidePullTests {
    @Test func `a row of a page that was requested before a decision is applied`() async throws {
        let world = try World()
        try await world.seed("a", #"{"text":"milk"}"#)
        _ = await world.engine.pull(world.todo)
        try await world.update("a", #"{"text":"mine"}"#)
        try await world.elsewhere("PATCH", "a", #"{"text":"theirs"}"#)
        _ = await world.engine.push()
        let conflict = try await world.store.firstConflict()
        try await world.elsewhere("PATCH", "a", #"{"text":"newest"}"#)
        let page = Gate()
        world.transport.decide { request, _ in
            request.head.path?.contains("$orderby") == true ? .held(page) : nil
        }
        let pull = Task { await world.engine.pull(world.todo) }
        await page.waitForArrival()
        _ = try await world.store.resolve(conflict.id, revision: conflict.revision, .server)
        #expect(try await world.local("a")?.columns["text"] == .string("theirs"))
        page.open()
        _ = await pull.value
        #expect(try await world.local("a")?.columns["text"] == .string("newest"))
    }

    @Test func `a purge during a pull leaves the table incomplete until the next pull`()
        async throws
    {
        let world = try World()
        for id in ["a", "b"] { try await world.seed(id, #"{"text":"milk"}"#) }
        _ = await world.engine.pull(world.todo)
        #expect(try await world.store.tables().first?.isComplete == true)
        world.clock.advance(by: .seconds(60))
        try await world.elsewhere("PATCH", "b", #"{"text":"newest"}"#)
        let page = Gate()
        world.transport.decide { request, _ in
            request.head.path?.contains("$orderby") == true ? .held(page) : nil
        }
        let pull = Task { await world.engine.pull(world.todo) }
        await page.waitForArrival()
        #expect(await world.engine.purge(world.todo) == .purged(items: 2, discarded: 0))
        page.open()
        #expect(await pull.value.state == .complete)
        #expect(try await world.store.tables().first?.isComplete == false)
        world.transport.decide { _, _ in nil }
        #expect(await world.engine.pull(world.todo).state == .complete)
        #expect(try await world.store.tables().first?.isComplete == true)
        #expect(try await world.local("a")?.columns["text"] == .string("milk"))
        #expect(try await world.local("b")?.columns["text"] == .string("newest"))
    }
}
