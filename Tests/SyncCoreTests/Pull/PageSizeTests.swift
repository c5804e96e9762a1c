import Backend
import HTTPMessage
import HTTPTypes
import Synchronization
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
            return .instead(.json(#"{"error":"The limit of '100' for Top is exceeded."}"#, 400))
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
            return .instead(.json(#"{"error":"The order is not supported."}"#, 400))
        }
        _ = await world.engine.pull(world.todo)
        #expect(try await world.itemCount() == 60)
        #expect(try await page(world, top: 500).items.count == 60)
    }

    @Test(arguments: [Paging.keyset, .skipInTies, .full])
    func `pages stay large while and after another writer changes rows`(_ paging: Paging)
        async throws
    {
        let world = try await world(pageRows: 1000, rows: 300)
        let backend = world.backend
        let writes = Mutex(0)
        // A row changes before each list, as long as the other writer is there.
        world.transport.decide { request, _ in
            guard let path = request.head.path, path.contains("$orderby") else { return nil }
            if paging != .keyset, path.contains("id%20gt") || path.contains("(updatedAt%20gt") {
                return .instead(
                    Response(status: .internalServerError, headerFields: [:], body: []))
            }
            if paging == .full, path.contains("updatedAt") {
                return .instead(
                    Response(status: .internalServerError, headerFields: [:], body: []))
            }
            let number = writes.withLock { number in
                number += 1
                return number
            }
            if number <= 100 {
                _ = backend.respond(
                    to: .tables(
                        "PATCH", "/tables/todoitem/r\(1000 + number * 7 % 300)",
                        #"{"text":"\#(number)"}"#))
            }
            return nil
        }
        for _ in 0..<3 { _ = await world.engine.pull(world.todo) }
        writes.withLock { $0 = 1000 }
        for _ in 0..<3 {
            world.clock.advance(by: .seconds(5))
            world.transport.forget()
            #expect(await world.engine.pull(world.todo).state == .complete)
            #expect(world.transport.targets.count <= 3, "\(world.transport.targets)")
            #expect(world.transport.targets.allSatisfy { $0.contains("$top=1000") })
        }
        try await world.expectSameRows()
    }

    @Test func `a size of one that an earlier version learned is forgotten`() async throws {
        let world = try await world(pageRows: 1000, rows: 300)
        _ = await world.engine.pull(world.todo)
        let todo = world.todo
        try await world.store.write { transaction in
            var table = try transaction.tables.make(todo)
            table.pageRows = 1
            try transaction.tables.save(table)
        }
        world.clock.advance(by: .seconds(5))
        world.transport.forget()
        _ = await world.engine.pull(world.todo)
        #expect(world.transport.targets.count <= 2)
        #expect(try await page(world, top: 500).items.count == 300)
    }

    @Test func `a backend whose limit is raised is asked for whole pages again`() async throws {
        let world = try await world(pageRows: 1000, rows: 60)
        let limit = Mutex(100)
        world.transport.decide { request, _ in
            let path = request.head.path ?? ""
            let top = path.split(separator: "$top=").last.flatMap { Int($0.prefix { $0.isNumber }) }
            guard path.contains("$top="), let top, top > limit.withLock({ $0 }) else { return nil }
            return .instead(.json(#"{"error":"The limit for Top is exceeded."}"#, 400))
        }
        for number in 0..<60 {
            if number == 30 { limit.withLock { $0 = 5000 } }
            world.clock.advance(by: .seconds(100))
            world.transport.forget()
            #expect(await world.engine.pull(world.todo).state == .complete)
            // A refused one is followed by an accepted one. The first pull has the proof and two pages too.
            #expect(world.transport.targets.count <= (number == 0 ? 5 : 3))
        }
        #expect(world.transport.targets.allSatisfy { $0.contains("$top=1000") })
        #expect(try await world.itemCount() == 60)
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
        world.store.listUnhurried(
            world.store.find(world.todo, worker: 0), query, generation: generation)
    }
}
