import GRDB
import Synchronization
import TablesProtocol
import Testing

@testable import Storage
@testable import SyncCore

/// Writes that arrive while the rows of a pull are written.
@Suite final class WritesTakenAlongTests: Sendable {
    private let fixture: StoreFixture
    /// How often rows were brought, the times included that were not committed.
    private let rounds = Mutex(0)
    private let outcome = Mutex<WriteOutcome?>(nil)
    private let commits = Mutex<[[String?]]>([])

    init() async throws {
        fixture = try StoreFixture()
        try await fixture.insert("old")
        fixture.store.onEvents { [self] events in
            let items = events.filter { $0.kind == .item }.map(\.itemID)
            commits.withLock { $0.append(items) }
        }
    }

    /// Brings a row while a client writes one; both are over when it returns.
    private func bringRow(
        beside columns: String = "{}", then: @escaping @Sendable () throws -> Void = {}
    ) async throws {
        let (store, todo) = (fixture.store, fixture.todo)
        let body = ItemBody(id: try ItemID("mine"), columns: try Columns(parsing: columns))
        let row = RemoteRow(id: try ItemID("theirs"), columns: Columns())
        let brought = await Task {
            try await store.writeBesideClients { [self] transaction in
                let round = rounds.withLock { rounds in
                    rounds += 1
                    return rounds
                }
                if round == 1 {
                    store.submit(LocalWrite(table: todo, action: .insert(body))) { [self] came in
                        outcome.withLock { $0 = came }
                    }
                }
                let table = try IDKinds(transaction: transaction).tableForRows(todo, [.row(row)])
                _ = try PulledRows(transaction: transaction).apply(row, to: table, asOf: 0)
                transaction.events.emit(.item, table: todo)
                try then()
            }
        }.result
        // The writer is free again when the client is answered.
        try await store.write { _ in }
        try brought.get()
    }

    @Test func `who waits is answered with the commit of the rows`() async throws {
        try await bringRow()
        #expect(outcome.withLock { $0?.isSuccess } == true)
        #expect(commits.withLock { $0 } == [[nil, "mine"]])
        #expect(try await fixture.row("theirs") != nil)
        #expect(try await fixture.store.ledger().balances)
    }

    @Test func `rows are brought although there is no room for the write that was taken along`()
        async throws
    {
        try await fixture.store.write { transaction in
            let pages = try Int.fetchOne(transaction.db.database, sql: "PRAGMA page_count") ?? 0
            try transaction.db.database.execute(sql: "PRAGMA max_page_count = \(pages)")
        }
        try await bringRow(beside: #"{"t":"\#(String(repeating: "x", count: 100_000))"}"#)
        #expect(rounds.withLock { $0 } == 2)
        #expect(outcome.withLock { $0 } == .storageFull(byBudget: false))
        #expect(commits.withLock { $0 } == [[nil]])
        #expect(try await fixture.row("theirs") != nil)
        #expect(try await fixture.store.ledger().balances)
    }

    @Test func `rows that cannot be brought take no write with them`() async throws {
        await #expect(throws: StoreError.failed("planned")) {
            try await bringRow { throw StoreError.failed("planned") }
        }
        #expect(rounds.withLock { $0 } == 1)
        #expect(outcome.withLock { $0?.isSuccess } == true)
        #expect(try await fixture.row("theirs") == nil)
        #expect(try await fixture.row("mine") != nil)
        #expect(try await fixture.store.ledger().balances)
    }
}
