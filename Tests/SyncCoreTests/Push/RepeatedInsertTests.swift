import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

@Suite struct RepeatedInsertTests {
    /// The network sends an insert twice, so that 409 comes back for the item's own row, and the
    /// read back of the row fails: the insert may have been applied, and a delete must follow it.
    @Test(arguments: [429, 503, 401])
    func `an insert with a 409 that is not read back may have been applied`(status: Int)
        async throws
    {
        let world = try World()
        try await world.insert("a")
        world.transport.decide { request, _ in
            if request.head.method == .post { return .twice }
            let isLook = request.head.path?.contains("id%20eq") == true
            return isLook ? .instead(Response(status: .init(code: status))) : nil
        }
        _ = await world.engine.push()
        let operation = try #require(try await world.open().first)
        #expect(operation.maybeApplied, "\(operation)")
        try await world.delete("a")
        world.transport.decide { _, _ in nil }
        for _ in 0..<3 {
            world.clock.advance(by: .seconds(700))
            _ = await world.engine.push()
        }
        #expect(try await world.open().isEmpty)
        #expect(try await world.remote("a")?.deleted == true)
        #expect(try await world.backend.effectCount(world.todo, "a") == 2)
    }

    /// Until a store has seen a row of a table, it does not know that the backend assigns integers, and looks for
    /// the row under the id that it made.
    @Test(arguments: RepeatedIDTests.dated, [true, false])
    func `an insert whose answer is lost makes one row where integer ids are not known yet`(
        flavour: BackendFlavour, isEmpty: Bool
    ) async throws {
        for applies in [true, false] {
            let world = try World(flavour, TableOptions(idKind: .integer))
            if !isEmpty {
                #expect(
                    try await world.send("POST", "/tables/todoitem", #"{"text":"tea"}"#) == 201)
            }
            let body = ItemBody(columns: Columns(stored: #"{"text":"milk","n":1}"#))
            guard case .inserted(let item, _) = await world.write(.insert(body)) else {
                throw World.Failure("insert")
            }
            world.transport.once(applies ? .answerLost : .vanished) { $0.head.method == .post }
            for _ in 0..<3 {
                _ = await world.engine.push()
                world.clock.advance(by: .seconds(700))
            }
            _ = await world.engine.sync()
            #expect(try await world.open().isEmpty)
            let rows = try await world.backend.items(in: world.todo)
            let made = rows.filter { $0.columns["text"]?.string == "milk" }
            #expect(made.count == 1 && rows.count == (isEmpty ? 1 : 2), "\(rows)")
            let here = try await world.row(item.id)
            #expect(here?.id == made.first?.id)
            #expect(here?.columns == made.first?.columns)
        }
    }
}
