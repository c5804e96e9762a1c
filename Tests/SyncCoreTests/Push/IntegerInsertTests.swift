import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Inserts whose integer ids the backend assigns.
@Suite struct IntegerInsertTests {
    @Test func `a row that came before an insert was first sent is not taken for it`()
        async throws
    {
        let world = try World(.mobileServices, TableOptions(idKind: .integer))
        let table = world.todo
        try await insertElsewhere(world, "old")
        #expect(await world.engine.pull(table).state == .complete)
        let body = ItemBody(columns: Columns(stored: #"{"text":"milk"}"#))
        guard case .inserted(let item, _) = await world.write(.insert(body)) else {
            throw World.Failure("It was not inserted.")
        }
        // The highest id is asked for, but nothing is sent.
        world.transport.once(.notSent) { $0.head.method == .post }
        _ = await world.engine.push()
        let open = try #require(try await world.open().first)
        #expect(!open.maybeApplied)
        // Another writer inserts an equal row. Then the answer to our own insert is lost.
        try await insertElsewhere(world, "milk")
        world.transport.once(.answerLost) { $0.head.method == .post }
        for _ in 0..<3 {
            world.clock.advance(by: .seconds(700))
            _ = await world.engine.push()
        }
        #expect(try await world.open().isEmpty)
        let rows = try await world.backend.items(in: table)
            .sorted { ($0.id.number ?? 0) < ($1.id.number ?? 0) }
        #expect(try await world.row(item.id)?.id == rows.last?.id)
        #expect(rows.map { $0.columns["text"]?.string } == ["old", "milk", "milk"])
    }

    @Test func `the highest id stays once a request may have reached the backend`() throws {
        var insert = TableOperation(
            id: "1", tableID: 1, table: try #require(TableName("todoitem")), itemID: ItemID(-1),
            kind: .insert, generation: .mobileServices, actor: .client,
            createdAt: Instant(milliseconds: 0))
        #expect(insert.needsHighestID)
        insert.highestID = 7
        #expect(insert.needsHighestID)
        insert.mayArriveLate = true
        #expect(!insert.needsHighestID)
        (insert.mayArriveLate, insert.maybeApplied) = (false, true)
        #expect(!insert.needsHighestID)
        insert.kind = .update
        insert.highestID = nil
        #expect(!insert.needsHighestID)
    }

    private func insertElsewhere(_ world: World, _ text: String) async throws {
        #expect(
            try await world.send("POST", "/tables/todoitem", #"{"text":"\#(text)"}"#) == 201)
    }
}
