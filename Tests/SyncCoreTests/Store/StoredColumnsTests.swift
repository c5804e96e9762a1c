import HTTPTypes
import Storage
import TablesProtocol
import Testing

@testable import SyncCore

@Suite struct StoredColumnsTests {
    /// The columns of a table in the schema, but for those that only statements of their own write.
    private func columns(of table: String, besides others: Set<String> = []) async throws -> Set<
        String
    > {
        let names: [String] = try await StoreFixture().store.read {
            try $0.column("SELECT name FROM pragma_table_info(?)", [table])
        }
        return Set(names).subtracting(others)
    }

    private func declared<Value>(_ stored: StoredColumns<Value>, _ table: String) -> Set<String> {
        let all = stored.names.split(separator: ", ").map(String.init)
        return Set(
            all.filter { $0.hasPrefix("\(table).") }.map { String($0.dropFirst(table.count + 1)) })
    }

    @Test func `each stored type declares the columns that its table has`() async throws {
        #expect(
            try await columns(of: "operations", besides: ["not_before"])
                == declared(TableOperation.stored, "operations"))
        #expect(try await columns(of: "items") == declared(ItemRow.stored, "items"))
        #expect(
            try await columns(of: "history", besides: ["server_version"])
                == declared(HistoryRow.stored, "history"))
        #expect(try await columns(of: "undo_points") == declared(UndoPoint.stored, "undo_points"))
        #expect(try await columns(of: "events") == declared(Event.stored, "events"))
        #expect(try await columns(of: "samples") == declared(Sample.stored, "samples"))
    }

    private func operation(in table: TableRecord, waitingFor other: Int64?) throws -> TableOperation
    {
        var operation = TableOperation(
            id: "an-id", tableID: table.id, table: table.name, itemID: try ItemID("a"),
            kind: .update, generation: .datasync, actor: .namedClient("till"),
            createdAt: Instant(milliseconds: 1))
        operation.state = .waiting
        operation.reason = "A reason."
        operation.revision = 7
        operation.baseVersion = "AAAA"
        operation.baseRow = Columns(stored: #"{"text":"a"}"#)
        operation.changedColumns = ["text", "te\"xt"]
        operation.payload = Columns(stored: #"{"text":"b"}"#)
        operation.maybeApplied = true
        operation.mayArriveLate = true
        operation.parameters = [QueryParameter(name: "a", value: "b c", raw: "a=b%20c")]
        operation.headers = [.init("X-Own") ?? .accept: "1"]
        operation.conditional = true
        operation.hasGeneratedID = true
        operation.highestID = 8
        operation.trace = Trace(parent: "00-1", state: "s=1")
        operation.title = "b"
        operation.attempts = 3
        operation.firstAttemptAt = Instant(milliseconds: 2)
        operation.lastAttemptAt = Instant(milliseconds: 3)
        operation.nextAttemptAt = Instant(milliseconds: 4)
        operation.lastStatus = 503
        operation.lastError = "An error."
        operation.waitsFor = other
        return operation
    }

    @Test func `an operation is read as it was inserted, and as it was changed`() async throws {
        let fixture = try StoreFixture()
        try await fixture.store.write { transaction in
            let table = try transaction.tables.make(fixture.todo)
            var first = try operation(in: table, waitingFor: nil)
            first.id = "first"
            try transaction.queue.insert(&first)
            var second = try operation(in: table, waitingFor: first.seq)
            second.successorOf = first.seq
            try transaction.queue.insert(&second)
            #expect(try transaction.queue.operation(seq: first.seq) == first)
            #expect(try transaction.queue.operation(id: "an-id") == second)
            second.state = .conflict
            (second.baseRow, second.payload, second.reason, second.lastStatus) = (
                nil, nil, nil, nil
            )
            (second.successorOf, second.waitsFor, second.nextAttemptAt) = (nil, nil, nil)
            try transaction.queue.save(&second)
            #expect(try transaction.queue.operation(id: "an-id") == second)
        }
    }

    @Test func `an operation with a kind that none can have is not read`() async throws {
        let fixture = try StoreFixture()
        try await fixture.store.write { transaction in
            let table = try transaction.tables.make(fixture.todo)
            var first = try operation(in: table, waitingFor: nil)
            try transaction.queue.insert(&first)
            try transaction.run("UPDATE operations SET kind = 'upsert', actor = 'the moon'")
            #expect(try transaction.queue.operation(seq: first.seq) == nil)
            try transaction.run("UPDATE operations SET kind = 'update'")
            #expect(try transaction.queue.operation(seq: first.seq)?.actor == .client)
        }
    }

    @Test func `an undo point keeps a text once, and is read whole`() async throws {
        let fixture = try StoreFixture()
        try await fixture.store.write { transaction in
            let table = try transaction.tables.make(fixture.todo)
            var first = try operation(in: table, waitingFor: nil)
            try transaction.queue.insert(&first)
            var row = ItemRow(new: first.itemID, tableID: table.id)
            row.columns = first.payload ?? Columns()
            var server = ServerSide(columns: first.baseRow)
            (server.version, server.updatedAt) = ("BBBB", "2026-01-01T00:00:00Z")
            var point = UndoPoint(first, row, server, isFollowed: false)
            point.copy = try ItemID("copy")
            try transaction.history.record(
                .resolved, actor: .person, first, before: row.columns, after: nil,
                summary: "Decided.",
                point: point)
            let id = try #require(try transaction.history.decision(about: first.id))
            let entry = try #require(try transaction.history.entry(id))
            let read = try #require(try transaction.history.undoPoint(of: entry))
            #expect(read.operation == first)
            #expect(read.operation.payload?.text == first.payload?.text)
            #expect((read.mine.text, read.copy) == (row.columns.text, point.copy))
            #expect(read.server == point.server)
            let texts = try transaction.first("SELECT mine, payload FROM undo_points") {
                [$0[0] as String, $0[1] as String]
            }
            #expect(texts == ["", ""])
        }
    }
}
