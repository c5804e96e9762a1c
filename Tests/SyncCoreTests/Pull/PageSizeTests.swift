import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Backends cut pages short, so a short page is not the end.
@Suite struct PageSizeTests {
    private func world(pageRows: Int?, rows: Int) async throws -> World {
        var options = BackendOptions(flavour: .mobileApps)
        options.pageRows = pageRows
        let world = try World(options)
        try await world.fill(rows)
        return world
    }

    @Test func `a backend with small pages is pulled completely, and no item is removed`()
        async throws
    {
        let world = try await world(pageRows: 7, rows: 60)
        #expect(await world.engine.pull(world.todo).state == .complete)
        #expect(try await world.itemCount() == 60)
        world.clock.advance(by: .seconds(60))
        _ = await world.engine.pull(world.todo, reconcile: true)
        #expect(try await world.itemCount() == 60)
        #expect(try await page(world, top: 500).items.count == 50)
    }

    @Test func `a client gets the requested number of rows if the backend gives it`()
        async throws
    {
        let world = try await world(pageRows: 1000, rows: 248)
        _ = await world.engine.pull(world.todo)
        // The page, and the empty page at the end.
        #expect(world.transport.targets.count { $0.contains("$top=1000") } == 2)
        #expect(try await page(world, top: 500).items.count == 248)
        // Also without a number, as on that server. First generation servers always gave 50.
        #expect(try await page(world, top: nil).items.count == 248)
        #expect(try await page(world, top: nil, generation: .mobileServices).items.count == 50)
    }

    @Test func `without a number, a client gets its generation's page if the backend cuts pages`()
        async throws
    {
        let world = try await world(pageRows: 50, rows: 120)
        _ = await world.engine.pull(world.todo)
        #expect(try await page(world, top: nil).items.count == 50)
        #expect(try await page(world, top: nil, generation: .datasync).items.count == 100)
    }

    @Test func `a backend that refuses large pages is asked for small ones, now and later`()
        async throws
    {
        let world = try await world(pageRows: 100, rows: 60)
        world.transport.decide { request, _ in
            guard request.head.path?.contains("$top=1000") == true else { return nil }
            return .instead(
                Response(
                    status: .badRequest, headerFields: [.contentType: "application/json"],
                    body: Array(#"{"error":"The limit of '100' for Top is exceeded."}"#.utf8)))
        }
        #expect(await world.engine.pull(world.todo).state == .complete)
        #expect(try await world.itemCount() == 60)
        world.transport.forget()
        _ = await world.engine.pull(world.todo)
        #expect(!world.transport.targets.contains { $0.contains("$top=1000") })
    }

    @Test func `a transient failure or a refused order does not change the page size`()
        async throws
    {
        let world = try await world(pageRows: 1000, rows: 60)
        world.transport.decide { request, number in
            let path = request.head.path ?? ""
            if number == 1 {
                return .instead(Response(status: .internalServerError, headerFields: [:], body: []))
            }
            // It accepts only one column in the order.
            guard path.contains("updatedAt,id") else { return nil }
            return .instead(
                Response(
                    status: .badRequest, headerFields: [.contentType: "application/json"],
                    body: Array(#"{"error":"The order is not supported."}"#.utf8)))
        }
        _ = await world.engine.pull(world.todo)
        #expect(try await world.itemCount() == 60)
        #expect(try await page(world, top: 500).items.count == 60)
    }

    private func page(
        _ world: World, top: Int?, generation: Generation = .mobileApps
    ) async throws -> ItemPage {
        let outcome = list(world, TableQuery(top: top), generation)
        guard case .page(let page) = outcome else { throw World.Failure("no page") }
        return page
    }

    private func list(
        _ world: World, _ query: TableQuery, _ generation: Generation = .mobileApps
    ) -> ListOutcome {
        world.store.listUnhurried(world.todo, query, generation: generation, worker: 0)
    }
}
