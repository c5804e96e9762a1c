import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// A table that takes inserts and gives no list, and no other table is known.
@Suite struct InsertOnlyTests {
    private static let json: HTTPFields = [.contentType: "application/json"]

    /// A world whose backend answers every read in this way.
    private func world(
        _ status: Int, fields: HTTPFields = json, body: String = #"{"error":"no"}"#,
        flavour: BackendFlavour = .mobileApps, trusted: Set<TableName> = [],
        triggers: Set<Trigger> = [.manual]
    ) throws -> World {
        let world = try World(
            BackendOptions(flavour: flavour),
            settings: SyncSettings(triggers: triggers, trustedTables: trusted))
        let answer = Response(
            status: .init(code: status), headerFields: fields, body: Array(body.utf8))
        world.transport.decide { request, _ in
            request.head.method == .get ? .instead(answer) : nil
        }
        return world
    }

    private func write(_ world: World, _ ids: String...) async throws {
        for id in ids { try await world.insert(id) }
    }

    /// The backend's answer to an insert that a client sends past the store.
    private func insertLive(_ world: World, _ body: String? = nil) async throws {
        var request = Request.tables("POST", "/tables/todoitem", #"{"id":"live","text":"now"}"#)
        request.head.headerFields[.contentType] = "application/json"
        var answer = try await InProcessTransport(world.backend).send(request)
        if let body { answer.body = .bytes(Array(body.utf8)) }
        await world.engine.noteInsert(answered: answer, into: world.todo, as: .mobileApps)
    }

    @Test(arguments: [401, 403, 405])
    func `what a client has inserted there proves it, also after a restart`(status: Int)
        async throws
    {
        let world = try world(status)
        try await write(world, "a", "b")
        _ = await world.engine.sync()
        #expect(world.writes.isEmpty)
        try await insertLive(world)
        _ = await world.engine.push()
        #expect(try await world.open().isEmpty)
        for id in ["a", "b"] {
            #expect(
                try await world.local(id)?.columns.text
                    == (try await world.remote(id))?.columns.text)
            #expect(try await world.backend.effectCount(world.todo, id) == 1)
        }
        try await write(world, "c")
        let (store, engine) = try world.reborn()
        #expect(await engine.push().push?.applied == 1)
        #expect(try await store.ledger().balances)
        #expect(try await world.remote("c") != nil)
    }

    @Test(arguments: [#"{"ok":true}"#, "[]", "<html></html>", ""])
    func `an answer without an item proves nothing`(body: String) async throws {
        let world = try world(403)
        try await write(world, "a")
        try await insertLive(world, body)
        _ = await world.engine.push()
        #expect(world.writes.isEmpty)
        #expect(try await world.open().map(\.state) == [.queued])
    }

    @Test(arguments: [401, 403, 405])
    func `a trusted table's writes are sent, in the generation of its client`(status: Int)
        async throws
    {
        let todo = try #require(TableName("todoitem"))
        let world = try world(status, trusted: [todo])
        try await write(world, "a")
        _ = await world.engine.push()
        #expect(try await world.remote("a") != nil)
        #expect(try await world.open().isEmpty)
    }

    @Test(arguments: [200, 302, 403, 404, 511])
    func `a page, and a site that is gone, prove nothing, also of a trusted table`(
        status: Int
    ) async throws {
        let todo = try #require(TableName("todoitem"))
        for (type, body) in [("text/html", "<html>Sign in</html>"), ("application/json", "{}")] {
            // A 403 in JSON is the refusal of a list.
            if status == 403, type != "text/html" { continue }
            let world = try world(
                status, fields: [.contentType: type], body: body, trusted: [todo])
            try await write(world, "a")
            _ = await world.engine.push()
            #expect(world.writes.isEmpty, "\(type)")
        }
    }

    @Test func `a refusal of a server that states its version of /tables proves it`() async throws {
        let version = try #require(HTTPField.Name("x-zumo-server-version"))
        let world = try world(
            403, fields: [.contentType: "application/json", version: "node-2.2.3"])
        try await write(world, "a")
        _ = await world.engine.push()
        #expect(try await world.remote("a") != nil)
    }

    @Test func `after a minute without a proof status and table say what is waited for`()
        async throws
    {
        let world = try world(405, triggers: Set(Trigger.allCases))
        try await write(world, "a")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await world.engine.run() }
            try await world.pass(for: .seconds(30))
            #expect(try await world.engine.status().backend.state == .online)
            try await world.pass(for: .seconds(40))
            let status = try await world.engine.status()
            #expect(status.backend.state == .notTables)
            #expect(status.backend.reason.contains("--trust-table todoitem"), "\(status.backend)")
            #expect(status.tables.first?.warning?.contains("--trust-table todoitem") == true)
            // Another table that gives a list, or an insert, ends it.
            try await insertLive(world)
            try await world.pass { try await world.open().isEmpty }
            #expect(try await world.engine.status().backend.state == .online)
            group.cancelAll()
        }
        #expect(try await world.backend.effectCount(world.todo, "a") == 1)
    }
}
