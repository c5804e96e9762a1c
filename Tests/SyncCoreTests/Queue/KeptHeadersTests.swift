import HTTPTypes
import TablesProtocol
import Testing

@testable import SyncCore

/// An operation keeps its client's header fields for its whole life.
@Suite struct KeptHeadersTests {
    let fixture: StoreFixture
    var store: Store { fixture.store }
    init() throws { fixture = try StoreFixture() }

    private func fields(_ pairs: KeyValuePairs<String, String>) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in pairs {
            if let name = HTTPField.Name(name) {
                fields.append(HTTPField(name: name, value: value))
            }
        }
        return fields
    }

    private func write(
        _ action: WriteAction, _ headers: KeyValuePairs<String, String>
    ) async throws {
        fixture.clock.advance(milliseconds: 1)
        let outcome = await store.submit(
            LocalWrite(table: fixture.todo, action: action, headers: fields(headers)))
        _ = try #require(outcome.item)
    }

    private func insert(_ headers: KeyValuePairs<String, String>) async throws {
        let body = ItemBody(id: try ItemID("a"), columns: Columns(stored: #"{"x":1}"#))
        try await write(.insert(body), headers)
    }

    private func update(_ columns: String, _ headers: KeyValuePairs<String, String>) async throws {
        try await write(.update(try ItemID("a"), Columns(stored: columns)), headers)
    }

    private var headers: [HTTPFields] {
        get async throws { try await fixture.chain("a").map(\.headers) }
    }

    @Test func `all header values survive a restart`() async throws {
        try await insert(["X-Tenant": "näh \"1\"", "X-Way": "one", "X-Way": "two"])
        let id = try #require(try await fixture.chain("a").first?.id)
        let reopened = try fixture.reopened()
        let kept = try await reopened.read { try $0.queue.operation(id: id)?.headers }
        #expect(kept == fields(["X-Tenant": "näh \"1\"", "X-Way": "one", "X-Way": "two"]))
        #expect(
            try await reopened.lists.operation(id)?.headers
                == ["X-Tenant: näh \"1\"", "X-Way: one", "X-Way: two"])
    }

    @Test func `when two writes collapse, the later value of each header wins`() async throws {
        try await insert(["X-Tenant": "north", "X-Way": "one", "X-Way": "two"])
        try await update(#"{"x":2}"#, ["x-way": "three", "X-New": "yes"])
        #expect(
            try await headers
                == [fields(["X-Tenant": "north", "X-Way": "three", "X-New": "yes"])])
    }

    @Test func `a write during another's request keeps its own header fields`() async throws {
        try await insert(["X-Tenant": "north"])
        let sent = try #require(try await fixture.send())
        try await update(#"{"x":2}"#, ["X-Way": "later"])
        #expect(try await headers == [fields(["X-Tenant": "north"]), fields(["X-Way": "later"])])
        // The request was never sent, so the two collapse.
        try await fixture.settle(
            sent.seq, .waiting(reason: "Refused.", until: nil))
        #expect(try await headers == [fields(["X-Tenant": "north", "X-Way": "later"])])
    }

    @Test
    func
        `an operator's edit keeps the client's header fields, and undo of a discard restores them`()
        async throws
    {
        try await insert(["X-Tenant": "north"])
        var operation = try #require(try await fixture.chain("a").first)
        _ = try await store.edit(
            operation.id, revision: operation.revision, columns: Columns(stored: #"{"x":3}"#))
        operation = try #require(try await fixture.chain("a").first)
        #expect(operation.headers == fields(["X-Tenant": "north"]))
        _ = try await store.discard(operation.id, revision: operation.revision)
        let entry = try await store.entry(.discarded)
        #expect(try await store.undo(entry.id).outcome.isDone)
        #expect(try await headers == [fields(["X-Tenant": "north"])])
        #expect(try await fixture.row("a")?.columns.text == #"{"x":3}"#)
    }

    @Test func `keep both copies the header fields`() async throws {
        try await fixture.pull(fixture.remote("a", #"{"x":1}"#, version: "v1"))
        try await update(#"{"x":2}"#, ["X-Tenant": "north"])
        let server = try fixture.remote("a", #"{"x":9}"#, version: "v22")
        try await fixture.push { _ in .conflict(server: server, reason: "Changed.") }
        let conflict = try #require(try await fixture.chain("a").first)
        _ = try await store.resolve(conflict.id, revision: conflict.revision, .both)
        let open = try await store.lists.operations(
            OperationFilter(states: OperationState.open), after: nil, limit: 9
        ).items
        let copy = try #require(open.first)
        #expect(copy.kind == .insert && open.count == 1)
        #expect(try await store.lists.operation(copy.id)?.headers == ["X-Tenant: north"])
    }
}
