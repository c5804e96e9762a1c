import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// The first contact with a backend that does not have the table `todoitem`.
@Suite struct FirstContactTests {
    /// A server that answers 404 with a page for a missing table.
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

    @Test func `a page with 404 concerns its table only, and another table is pulled`()
        async throws
    {
        let world = try world()
        let movies = try #require(TableName("movies"))
        let run = await world.engine.pull(world.todo, isExplicit: false)
        #expect(run.state == .completeWithErrors)
        #expect(run.pull.first?.error == "There is no table todoitem (404).")
        #expect(try await world.engine.status().backend.state == .online)
        #expect(await world.engine.pull(movies, isExplicit: false).state == .complete)
        #expect(try await world.store.tables().map(\.name) == ["movies"])
    }

    @Test func `nothing is sent before a table is listed, and other tables are pulled`()
        async throws
    {
        let world = try world()
        let movies = try #require(TableName("movies"))
        try await world.insert("a")
        _ = await world.engine.push()
        #expect(try await world.open().map(\.state) == [.queued])
        #expect(world.writes.isEmpty)
        let run = await world.engine.pull(movies, isExplicit: false)
        #expect(run.pull.map(\.table) == ["movies"] && run.pull.first?.error == nil)
        let tables = try await world.store.tables()
        #expect(tables.first { $0.name == "movies" }?.isComplete == true)
        #expect(try await world.open().allSatisfy { $0.state.isOpen })
    }

    private func read(_ table: TableName, _ query: TableQuery = TableQuery()) -> ForwardedRead {
        ForwardedRead(table: table, target: .list(query, rows: 50), generation: .mobileApps)
    }

    @Test func `a read of a table that was not pulled gets the backend's answer`() async throws {
        let world = try world()
        let movies = try #require(TableName("movies"))
        let direct = InProcessTransport(world.backend)
        _ = try await direct.send(.tables("POST", "/tables/movies", #"{"id":"m","title":"M"}"#))
        guard case .refused(let page, _, _) = await world.engine.forward(read(world.todo)) else {
            throw World.Failure("no refusal")
        }
        #expect(page.head.status == .notFound && page.bytes == Array("<pre>Cannot GET</pre>".utf8))
        guard case .page(let rows) = await world.engine.forward(read(movies)) else {
            throw World.Failure("no page")
        }
        #expect(rows.items.map(\.id.text) == ["m"])
        #expect(rows.items.first?.columns.text == #"{"title":"M"}"#)
        // Nothing of the answer is stored.
        #expect(try await world.store.tables().isEmpty)
        #expect(await world.engine.backendStatus.state == .online)
    }

    @Test(arguments: [
        ("title desc", "$orderby=title desc,id"), ("id desc,title", "$orderby=id desc,title"),
        ("", "$orderby=id"),
    ])
    func `the order of a further page ends with the id, like that of the store's next page`(
        order: String, sent: String
    ) throws {
        let table = try #require(TableName("movies"))
        let query = TableQuery(
            orderBy: try Ordering.parse(order, generation: .mobileApps), skip: 50)
        let asked = try #require(read(table, query).request(for: .mobileApps)).target
        let text = try #require(PercentCoding.decode(Substring(asked))?.split(separator: "?").last)
        #expect(
            text.split(separator: "&").filter { !["$top=50", "$skip=50"].contains($0) }.joined()
                == sent)
    }

    @Test func `a wanted table shows the backend's generation when the backend is back`()
        async throws
    {
        let world = try World()
        try await world.seed("a", #"{"text":"x"}"#)
        world.store.want(world.todo)
        #expect(await world.engine.sync().state == .complete)
        #expect(await world.engine.knownGeneration == .mobileApps)
        try await world.update("a", #"{"text":"y"}"#)
        #expect(await world.engine.sync().state == .complete)
        #expect(try await world.remote("a")?.columns == Columns(stored: #"{"text":"y"}"#))
    }

    @Test func `no time in a forwarded answer is later than this machine's time`() async throws {
        let world = try World()
        try await world.seed("a", #"{"text":"x"}"#)
        world.clock.jump(by: .seconds(-3600))
        guard case .page(let rows) = await world.engine.forward(read(world.todo)) else {
            throw World.Failure("no page")
        }
        #expect(rows.items.allSatisfy { $0.updatedAt <= world.clock.now() })
        #expect(rows.items.count == 1)
    }

    @Test func `the first failed request sets the backend's state to offline`() async throws {
        let world = try World()
        _ = await world.engine.forward(read(world.todo))
        #expect(await world.engine.backendStatus.state == .online)
        world.transport.decide { _, _ in .notSent }
        guard case .unreachable = await world.engine.forward(read(world.todo)) else {
            throw World.Failure("an answer")
        }
        #expect(await world.engine.backendStatus.state == .offline)
    }

    @Test func `a fetched item is stored without the rest of its table`() async throws {
        let world = try World()
        try await world.seed("a", #"{"text":"theirs","rank":2}"#)
        try await world.seed("b", #"{"text":"other"}"#)
        let id = try ItemID("a")
        let answer = try await world.engine.fetch(id, of: world.todo, generation: .mobileApps)
        #expect(answer == nil)
        #expect(try await world.local("a")?.columns.text == #"{"text":"theirs","rank":2}"#)
        #expect(try await world.local("b") == nil)
        #expect(try await world.store.tables().first?.isComplete == false)
        try await world.update("a", #"{"text":"mine"}"#)
        #expect(await world.engine.sync().state == .complete)
        #expect(try await world.local("a")?.columns.text == #"{"text":"mine","rank":2}"#)
        #expect(try await world.local("b")?.columns.text == #"{"text":"other"}"#)
    }

    @Test func `without a token, a table that requires a sign-in delays no other table`()
        async throws
    {
        let world = try World()
        let secrets = try #require(TableName("secrets"))
        _ = await world.engine.pull(world.todo)
        let body = ItemBody(id: try ItemID("s"), columns: try Columns(parsing: #"{"text":"s"}"#))
        _ = await world.store.submit(LocalWrite(table: secrets, action: .insert(body)))
        try await world.insert("a")
        world.transport.decide { request, _ in
            request.head.path?.hasPrefix("/tables/secrets") == true
                ? .instead(Response(status: .unauthorized)) : nil
        }
        let run = await world.engine.sync()
        #expect(run.push?.applied == 1, "\(run)")
        #expect(run.pull.first { $0.table == "todoitem" }?.error == nil)
        #expect(await world.engine.backendStatus.state == .online)
        let open = try await world.open()
        #expect(open.map(\.table) == ["secrets"] && open.map(\.state) == [.waiting])
        // It is tried less and less often, and never refused.
        for _ in 0..<12 { _ = await world.engine.sync() }
        let next = try #require(try await world.open().first?.nextAttemptAt)
        #expect(next > world.clock.now().advanced(by: .seconds(1)))
        #expect(try await world.open().map(\.state) == [.waiting])
    }

    @Test
    func `an item is fetched although its id differs in case, and an answer without a row fails`()
        async throws
    {
        let world = try World()
        let row =
            #"{"id":"abc","text":"theirs","version":"AAE=","updatedAt":"2024-01-01T00:00:00.000Z"}"#
        world.transport.decide { request, _ in
            guard request.head.method == .get, request.head.path?.contains("/ABC") == true else {
                return nil
            }
            return .instead(.json(row))
        }
        let id = try ItemID("ABC")
        #expect(try await world.engine.fetch(id, of: world.todo, generation: .mobileApps) == nil)
        guard
            case .updated(let item, _) = await world.write(
                .update(id, Columns(stored: #"{"text":"mine"}"#)))
        else { throw World.Failure("no update") }
        #expect(item.id.text == "abc" && item.columns.text == #"{"text":"mine"}"#)
        for body in ["{}", "[]", ""] {
            world.transport.decide { request, _ in
                request.head.method == .get
                    ? .instead(.json(body)) : nil
            }
            let answer = try await world.engine.fetch(
                try ItemID("other"), of: world.todo, generation: .mobileApps)
            guard case .withoutRow? = answer else {
                Issue.record("\(body): \(String(describing: answer))")
                continue
            }
        }
    }
}
