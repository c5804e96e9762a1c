import Backend
import HTTPMessage
import HTTPTypes
import TablesProtocol
import TestSupport
import Testing

@testable import SyncCore

/// Writes without a verdict whose row cannot be read back: what comes instead is no row.
@Suite struct UnreadableRowTests {
    private let world: World
    init() throws { world = try World() }

    /// The backend answers inserts and reads of one item with something that is not its row.
    private func answer(insert: Response, reads: String) {
        world.transport.decide { request, _ in
            if request.head.method == .post { return .instead(insert) }
            let path = request.head.path ?? ""
            return path.contains("filter") || path.contains("/todoitem/")
                ? .instead(.json(reads)) : nil
        }
    }

    private func pushTenTimes() async throws -> OperationSummary {
        for _ in 0..<10 {
            #expect(try await world.open().first?.state != .quarantined)
            _ = await world.engine.push()
            world.clock.advance(by: .seconds(700))
        }
        let operation = try #require(try await world.open().first)
        #expect(operation.state == .quarantined && operation.attempts == 10)
        _ = await world.engine.push()
        #expect(try await world.open().first?.attempts == 10)
        return operation
    }

    static let reads = [#"{"x":1}"#, #""text""#, #"[{"id":"other"}]"#, #"{"id":"other"}"#]

    @Test(arguments: reads)
    func `every read back counts, and the write's own answer is the reason`(
        reads: String
    ) async throws {
        try await world.insert("a")
        answer(insert: .json(#"{"error":"Duplicate."}"#, 409), reads: reads)
        let refused = try await pushTenTimes()
        #expect(refused.reason == "The backend answered 409: Duplicate. Tried 10 times.")
        // A change sends it again as an insert.
        world.transport.decide { _, _ in nil }
        try await world.update("a", #"{"text":"bread"}"#)
        _ = await world.engine.push()
        #expect(try await world.remote("a")?.columns.text == #"{"text":"bread","rank":1}"#)
        #expect(try await world.open().isEmpty)
    }

    @Test(arguments: [false, true])
    func `what waits behind an operation without a verdict is sent as an insert once it is edited`(
        isApplied: Bool
    ) async throws {
        try await world.insert("a")
        answer(insert: .json(#""ok""#, 201), reads: #"{"x":1}"#)
        _ = await world.engine.push()
        try await world.update("a", #"{"text":"bread"}"#)
        world.clock.advance(by: .seconds(700))
        for _ in 0..<9 {
            _ = await world.engine.push()
            world.clock.advance(by: .seconds(700))
        }
        let open = try await world.open()
        #expect(open.map(\.state) == [.quarantined, .queued])
        #expect(open.first?.reason == #"The backend answered 201: "ok" Tried 10 times."#)
        world.transport.decide { _, _ in nil }
        if isApplied { try await world.seed("a", #"{"text":"milk","rank":1}"#) }
        let waiting = try #require(open.last)
        #expect(
            try await world.store.edit(
                waiting.id, revision: waiting.revision, columns: Columns(stored: #"{"rank":2}"#)
            ).isDone)
        _ = await world.engine.push()
        world.clock.advance(by: .seconds(700))
        _ = await world.engine.push()
        let there = try await world.remote("a")?.columns.text
        if isApplied {
            // The row may be another writer's, so a person decides.
            #expect(try await world.open().first?.state == .conflict)
            #expect(there == #"{"text":"milk","rank":1}"#)
        } else {
            #expect(try await world.open().isEmpty)
            #expect(there == #"{"text":"bread","rank":2}"#)
        }
        #expect(try await world.store.ledger().balances)
    }
}
