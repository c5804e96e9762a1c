import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Items of `todoitem` name one of `todolist` by `listId`, and that is declared.
@Suite struct DependencyTests {
    private let world: World
    private let lists: TableName

    init() throws {
        world = try World(settings: SyncSettings(triggers: [.manual], parallelism: 8))
        lists = try #require(TableName("todolist"))
    }

    private func declare() async throws {
        let link = ParentLink(table: lists, column: "listId")
        _ = try await world.store.updateTable(world.todo) { $0.parents = [link] }
    }

    private func write(_ action: WriteAction) async throws {
        let outcome = await world.store.submit(LocalWrite(table: lists, action: action))
        guard outcome.isSuccess else { throw World.Failure("\(outcome)") }
    }

    private func insertList(_ id: String) async throws {
        try await write(
            .insert(ItemBody(id: try ItemID(id), columns: Columns(stored: #"{"title":"L"}"#))))
    }

    private func insertItem(_ id: String, of list: String) async throws {
        try await world.insert(id, #"{"text":"x","listId":"\#(list)"}"#)
    }

    private func states() async throws -> [String: OperationState] {
        Dictionary(
            uniqueKeysWithValues: try await world.open().map { ($0.itemID, $0.state) })
    }

    /// The requests sent, in order, as `METHOD table/id`.
    private var sent: [String] {
        world.transport.sent.compactMap { request in
            guard request.head.method != .get, let path = request.head.path else { return nil }
            let body = String(decoding: request.body, as: UTF8.self)
            let id = Columns(stored: body.isEmpty ? "{}" : body)["id"]?.string
            return "\(request.head.method.rawValue) \(path.dropFirst(8))"
                + (id.map { "/\($0)" } ?? "")
        }
    }

    @Test
    func `parents are inserted before their children and deleted after them, in parallel too`()
        async throws
    {
        try await declare()
        for number in 0..<6 {
            // The children are written first, so creation order alone would be wrong.
            try await insertItem("c\(number)", of: "l\(number)")
            try await insertList("l\(number)")
        }
        #expect(await world.engine.push().state == .complete)
        #expect(try await world.open().isEmpty)
        for number in 0..<6 {
            let parent = try #require(sent.firstIndex(of: "POST todolist/l\(number)"))
            let child = try #require(sent.firstIndex(of: "POST todoitem/c\(number)"))
            #expect(parent < child, "\(sent)")
        }
        world.transport.forget()
        for number in 0..<6 {
            try await write(.delete(try ItemID("l\(number)")))
            try await world.delete("c\(number)")
        }
        #expect(await world.engine.push().state == .complete)
        for number in 0..<6 {
            let parent = try #require(sent.firstIndex(of: "DELETE todolist/l\(number)"))
            let child = try #require(sent.firstIndex(of: "DELETE todoitem/c\(number)"))
            #expect(child < parent, "\(sent)")
        }
        #expect(try await world.store.ledger().balances)
    }

    @Test func `children of a refused parent wait with a reason and are sent after it`()
        async throws
    {
        try await declare()
        try await insertList("groceries")
        try await insertItem("milk", of: "groceries")
        try await insertItem("alone", of: "nothing")
        world.transport.decide { request, _ in
            request.head.path == "/tables/todolist" && request.head.method == .post
                ? .instead(Response(status: .badRequest, body: Array("{}".utf8))) : nil
        }
        _ = await world.engine.push()
        #expect(try await states() == ["groceries": .quarantined, "milk": .waiting])
        let held = try #require(try await world.open().first { $0.itemID == "milk" })
        #expect(held.attempts == 0)
        #expect(
            held.reason
                == #"Waits for the insert of "L" (todolist/groceries), which the backend refused."#)
        // Waiting children are not due work, so the schedule is idle.
        #expect(try await world.store.read { try $0.dueOperations.hasQueued() } == false)
        #expect(try await world.store.read { try $0.dueOperations.earliestAttempt() } == nil)
        world.transport.forget()
        _ = await world.engine.push()
        #expect(sent.isEmpty)
        // The child still waits after a restart.
        let (store, engine) = try world.reborn()
        let parent = try #require(try await world.open().first { $0.itemID == "groceries" })
        _ = await engine.push()
        #expect(sent.isEmpty)
        world.transport.decide { _, _ in nil }
        _ = try await store.retry(parent.id)
        let run = await engine.push()
        #expect(run.state == .complete, "\(run)")
        #expect(sent == ["POST todolist/groceries", "POST todoitem/milk"])
        #expect(try await store.ledger().queue.open == 0)
    }

    @Test func `children are sent when the parent is discarded or they name another parent`()
        async throws
    {
        try await declare()
        for id in ["one", "two"] { try await insertList(id) }
        try await insertItem("a", of: "one")
        try await insertItem("b", of: "two")
        world.transport.decide { request, _ in
            request.head.path == "/tables/todolist" && request.head.method == .post
                ? .instead(Response(status: .badRequest, body: Array("{}".utf8))) : nil
        }
        _ = await world.engine.push()
        #expect(try await states()["a"] == .waiting)
        let one = try #require(try await world.open().first { $0.itemID == "one" })
        _ = try await world.store.discard(one.id)
        try await world.update("b", #"{"listId":"one"}"#)
        #expect(try await states() == ["two": .quarantined, "a": .queued, "b": .queued])
        _ = await world.engine.push()
        #expect(try await states() == ["two": .quarantined])
    }

    @Test func `two items that name each other are sent in creation order`() async throws {
        let link = ParentLink(table: world.todo, column: "listId")
        _ = try await world.store.updateTable(world.todo) { $0.parents = [link] }
        try await insertItem("a", of: "b")
        try await insertItem("b", of: "a")
        try await insertItem("self", of: "self")
        #expect(await world.engine.push().state == .complete)
        #expect(try await world.open().isEmpty)
        for id in ["a", "b", "self"] { try await world.delete(id) }
        #expect(await world.engine.push().state == .complete)
        #expect(try await world.open().isEmpty)
    }

    @Test func `a parent is deleted after a child that now names another`() async throws {
        try await declare()
        for id in ["one", "two"] { try await insertList(id) }
        try await insertItem("a", of: "one")
        _ = await world.engine.push()
        try await write(.delete(try ItemID("one")))
        try await world.update("a", #"{"listId":"two"}"#)
        world.transport.forget()
        #expect(await world.engine.push().state == .complete)
        #expect(sent == ["PATCH todoitem/a", "DELETE todolist/one"])
    }

    @Test func `without a declared reference nothing waits`() async throws {
        try await insertItem("c", of: "l")
        try await insertList("l")
        world.transport.decide { request, _ in
            request.head.path == "/tables/todolist" && request.head.method == .post
                ? .instead(Response(status: .badRequest, body: Array("{}".utf8))) : nil
        }
        _ = await world.engine.push()
        #expect(try await states() == ["l": .quarantined])
    }

    @Test func `children name the id that the backend gave their parent`() async throws {
        var options = BackendOptions(flavour: .mobileServices)
        options.tables = [
            lists: TableOptions(idKind: .integer), world.todo: TableOptions(),
        ]
        let world = try World(options, settings: SyncSettings(triggers: [.manual], parallelism: 4))
        let lists = lists
        let link = ParentLink(table: lists, column: "listId")
        try await world.store.write { _ = try $0.tables.make(lists, idKind: .integer) }
        _ = try await world.store.updateTable(world.todo) { $0.parents = [link] }
        let outcome = await world.store.submit(
            LocalWrite(
                table: lists,
                action: .insert(ItemBody(columns: Columns(stored: #"{"title":"L"}"#))),
                generation: .mobileServices))
        let list = try #require(outcome.item)
        #expect((list.id.number ?? 0) > 1000)
        try await world.insert("a", #"{"text":"x","listId":\#(list.id.text)}"#)
        let run = await world.engine.push()
        #expect(run.state == .complete, "\(run)")
        let given = try #require(
            try await world.backend.items(in: lists).first?.id.text)
        #expect(try await world.remote("a")?.columns["listId"]?.text == given)
        #expect(try await world.local("a")?.columns["listId"]?.text == given)
    }
}
