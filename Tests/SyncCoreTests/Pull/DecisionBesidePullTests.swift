import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// A decision while a page is in flight does not keep the page's newer row out of the store.
@Suite struct DecisionBesidePullTests {
    @Test func `a row of a page that was requested before a decision is applied`() async throws {
        let world = try World()
        try await world.seed("a", #"{"text":"milk"}"#)
        _ = await world.engine.pull(world.todo)
        try await world.update("a", #"{"text":"mine"}"#)
        try await world.elsewhere("PATCH", "a", #"{"text":"theirs"}"#)
        _ = await world.engine.push()
        let conflict = try #require(
            try await world.store.conflicts(after: nil, limit: 1).items.first)
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
}
