import TablesProtocol
import Testing

@testable import SyncCore

/// A decision can be undone before it is sent, and an undo says what it does.
struct DecisionHoldTests {
    private let fixture: StoreFixture
    private var store: Store { fixture.store }

    init() throws { fixture = try StoreFixture() }

    private func decide(_ resolution: Resolution, seconds: Int = 8) async throws -> TableOperation {
        let conflict = try await fixture.conflict("a")
        _ = try await store.resolve(
            conflict.id, revision: conflict.revision, resolution, holdSeconds: seconds)
        return conflict
    }

    private func due() async throws -> Int {
        try await store.read { try $0.dueOperations.count(upTo: .max) }
    }

    @Test func `a held decision is due after its time`() async throws {
        _ = try await decide(.mine)
        let held = try #require(try await fixture.chain("a").first)
        #expect(held.state == .waiting && held.reason == "Kept mine. \(DecisionHold.mark)")
        #expect(try await due() == 0)
        // A backend that is in reach again makes due what waits for a time, but no decision.
        try await store.write { try $0.dueOperations.makeAllDue() }
        #expect(try await due() == 0)
        #expect(try await store.read { try $0.dueOperations.waiting().count } == 0)
        fixture.clock.advance(milliseconds: 8000)
        #expect(try await due() == 1)
    }

    @Test func `the end of the hold queues what was held, with its reason`() async throws {
        _ = try await decide(.mine)
        #expect(try await store.sendDecisions() == 1)
        let operation = try #require(try await fixture.chain("a").first)
        #expect(operation.state == .queued && operation.reason == "Kept mine.")
        #expect(try await due() == 1)
        #expect(try await store.sendDecisions() == 0)
    }

    @Test(arguments: [Resolution.mine, .merged, .server, .both])
    func `an undo within the time opens the conflict`(resolution: Resolution) async throws {
        let conflict = try await decide(resolution)
        #expect(try await due() == 0)
        let planned = try await store.undoDecisions([conflict.id], dryRun: true)
        #expect(planned.map(\.effect) == [.reopened])
        #expect(try await store.lists.conflicts(after: nil, limit: 9).items.isEmpty)
        let undone = try await store.undoDecisions([conflict.id])
        #expect(undone.map(\.sentence) == planned.map(\.sentence))
        let open = try await store.lists.conflicts(after: nil, limit: 9).items
        #expect(open.map(\.itemID) == ["a"])
    }

    @Test func `without a hold a decision is due at once`() async throws {
        _ = try await decide(.mine, seconds: 0)
        #expect(try await due() == 1)
    }
}
