import GRDB
import Storage
import TablesProtocol
import Testing

@testable import SyncCore

@Suite struct DiskBudgetTests {
    private static let budgetBytes = 2 << 20
    private static let text = String(repeating: "t", count: 4_000)

    private func fixture() throws -> StoreFixture {
        try StoreFixture(budgetBytes: Self.budgetBytes)
    }

    private func fill(_ fixture: StoreFixture) async throws -> Int {
        var count = 0
        while count < 10_000 {
            let body = ItemBody(
                id: try ItemID("w\(count)"),
                columns: try Columns(parsing: #"{"text":"\#(Self.text)"}"#))
            switch await fixture.write(.insert(body)) {
            case .inserted: count += 1
            case .storageFull: return count
            case let other:
                Issue.record("\(other)")
                return count
            }
        }
        return count
    }

    @Test func `a full store reports it, keeps accepted writes and answers reads`() async throws {
        let fixture = try fixture()
        let count = try await fill(fixture)
        #expect((50..<1_000).contains(count))
        let ledger = try await fixture.store.ledger()
        #expect(ledger.accepted == Int64(count) && ledger.balances)
        for number in [0, count / 2, count - 1] {
            guard case .item = fixture.get(try ItemID("w\(number)")) else {
                throw World.Failure("w\(number) is gone")
            }
        }
    }

    @Test func `operations of a full store can be sent and discarded, which frees space`()
        async throws
    {
        let fixture = try fixture()
        let count = try await fill(fixture)
        let state = try await fixture.push { _ in
            .quarantined(reason: "no", maybeApplied: false)
        }
        #expect(state == .quarantined)
        let items = try await fixture.store.lists.operations(
            OperationFilter(), after: nil, limit: 1
        ).items
        let first = try #require(items.first)
        _ = try await fixture.store.discard(first.id, revision: first.revision)
        let ledger = try await fixture.store.ledger()
        #expect(ledger.balances && ledger.accepted == Int64(count))
        #expect(ledger.discarded == 1 && ledger.queue.queued == count - 1)
        _ = try await fixture.insert("after", #"{"text":"\#(Self.text)"}"#)
    }

    @Test func `a full store is not writable and says why, until something is given up`()
        async throws
    {
        let fixture = try fixture()
        try await fixture.store.health.proveWritable()
        _ = try await fill(fixture)
        #expect(fixture.store.health.roomWarning != nil)
        await #expect(throws: StoreError.self) { try await fixture.store.health.proveWritable() }
        _ = try await fixture.push { _ in .quarantined(reason: "no", maybeApplied: false) }
        // The push has written more than one operation holds, so more than one is given up.
        let items = try await fixture.store.lists.operations(
            OperationFilter(), after: nil, limit: 10
        )
        .items
        for item in items { _ = try await fixture.store.discard(item.id, revision: item.revision) }
        #expect(fixture.store.health.roomWarning == nil)
        try await fixture.store.health.proveWritable()
    }

    @Test func `a preview that the budget refuses removes nothing`() async throws {
        let fixture = try fixture()
        for number in 0..<10 {
            try await fixture.pull(
                fixture.remote("p\(number)", #"{"text":"milk"}"#, version: "v\(number)"))
        }
        await #expect(throws: StoreError.self) {
            try await fixture.store.preview { transaction in
                try transaction.run(
                    "INSERT OR REPLACE INTO meta VALUES ('proof', zeroblob(?))",
                    [4 * Self.budgetBytes])
            }
        }
        let status = try #require(try await fixture.store.tables().first)
        #expect(status.items == 10)
    }

    @Test func `a full store evicts rows that the backend has, but no operation`() async throws {
        let fixture = try fixture()
        try await fixture.insert("mine")
        for number in 0..<300 {
            try await fixture.pull(
                fixture.remote(
                    "p\(number)", #"{"text":"\#(Self.text)"}"#, version: "v\(number)"))
        }
        let pulled = try await fixture.store.tables().first?.items
        #expect(pulled == 301)
        let count = try await fill(fixture)
        #expect(count > 100)
        let status = try #require(try await fixture.store.tables().first)
        #expect(!status.isComplete)
        let left = try await fixture.store.read { try $0.integer("SELECT count(*) FROM items") }
        #expect(left == Int64(count + 1))
        let ledger = try await fixture.store.ledger()
        #expect(ledger.accepted == Int64(count + 1) && ledger.balances)
        guard case .item = fixture.get(try ItemID("mine")) else {
            throw World.Failure("a local write was forgotten")
        }
    }
}
