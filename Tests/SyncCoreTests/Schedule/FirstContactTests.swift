import HTTPMessage
import HTTPTypes
import ReferenceBackend
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// A backend that is met for the first time, and has no table of the name that many have.
@Suite struct FirstContactTests {
    /// A server that says with a page that there is no such table.
    private func world() throws -> World {
        var options = BackendOptions(flavour: .mobileApps)
        options.tables = [try #require(TableName("movies")): TableOptions(softDelete: true)]
        let world = try World(options)
        world.transport.decide { request, _ in
            guard request.head.path?.hasPrefix("/tables/movies") != true else { return nil }
            return .instead(
                Response(
                    status: .notFound, headerFields: [.contentType: "text/html; charset=utf-8"],
                    body: Array("<pre>Cannot GET</pre>".utf8)))
        }
        return world
    }

    @Test func `a page with 404 is about its table, and another is pulled at once`() async throws {
        let world = try world()
        let movies = try #require(TableName("movies"))
        let run = await world.engine.pull(world.todo, isAsked: false)
        #expect(run.state == .completeWithErrors)
        #expect(run.pull.first?.error == "There is no table todoitem (404).")
        #expect(try await world.engine.status().backend.state == .online)
        #expect(await world.engine.pull(movies, isAsked: false).state == .complete)
        #expect(try await world.store.tables().map(\.name) == ["movies"])
    }

    @Test func `nothing is sent before a table is listed, and the others do not wait`()
        async throws
    {
        let world = try world()
        let movies = try #require(TableName("movies"))
        try await world.insert("a")
        _ = await world.engine.push()
        #expect(try await world.open().map(\.state) == [.queued])
        #expect(world.writes.isEmpty)
        let run = await world.engine.pull(movies, isAsked: false)
        #expect(run.pull.map(\.table) == ["movies"] && run.pull.first?.error == nil)
        let tables = try await world.store.tables()
        #expect(tables.first { $0.name == "movies" }?.isComplete == true)
        #expect(try await world.open().allSatisfy { $0.state.isOpen })
    }
}
