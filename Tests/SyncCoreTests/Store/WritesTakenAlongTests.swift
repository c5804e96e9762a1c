import GRDB
import Synchronization
import TablesProtocol
import Testing

@testable import Storage
@testable import SyncCore

/// Writes that arrive while the rows of a pull are written.
@Suite final class WritesTakenAlongTests: Sendable {
    private let fixture: StoreFixture
    /// The number of attempts to write pulled rows, with or without a commit.
    private let attempts = Mutex(0)
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

    /// Pulls a row while a client writes one; returns after both.
    private func pullRow(
        beside columns: String = "{}", then: @escaping @Sendable () throws -> Void = {}
    ) async throws {
        let (store, todo) = (fixture.store, fixture.todo)
        let body = ItemBody(id: try ItemID("mine"), columns: try Columns(parsing: columns))
        let row = RemoteRow(id: try ItemID("theirs"), columns: Columns())
        let brought = await Task {
            try await store.writeBesideClients { [self] transaction in
                let round = attempts.withLock { count in
                    count += 1
                    return count
                }
                if round == 1 {
                    store.submit(LocalWrite(table: todo, action: .insert(body))) { [self] result in
                        outcome.withLock { $0 = result }
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

    @Test func `a waiting write is answered with the commit of the rows`() async throws {
        try await pullRow()
        #expect(outcome.withLock { $0?.isSuccess } == true)
        #expect(commits.withLock { $0 } == [[nil, "mine"]])
        #expect(try await fixture.row("theirs") != nil)
        #expect(try await fixture.store.ledger().balances)
    }

    @Test func `pulled rows are written although the write in the same commit does not fit`()
        async throws
    {
        try await fixture.store.write { transaction in
            let pages = try Int.fetchOne(transaction.db.database, sql: "PRAGMA page_count") ?? 0
            try transaction.db.database.execute(sql: "PRAGMA max_page_count = \(pages)")
        }
        try await pullRow(beside: #"{"t":"\#(String(repeating: "x", count: 100_000))"}"#)
        #expect(attempts.withLock { $0 } == 2)
        #expect(outcome.withLock { $0 } == .storageFull(byBudget: false))
        #expect(commits.withLock { $0 } == [[nil]])
        #expect(try await fixture.row("theirs") != nil)
        #expect(try await fixture.store.ledger().balances)
    }

    @Test func `pulled rows that cannot be written do not fail the write in the same group`()
        async throws
    {
        await #expect(throws: StoreError.failed("planned")) {
            try await pullRow { throw StoreError.failed("planned") }
        }
        #expect(attempts.withLock { $0 } == 1)
        #expect(outcome.withLock { $0?.isSuccess } == true)
        #expect(try await fixture.row("theirs") == nil)
        #expect(try await fixture.row("mine") != nil)
        #expect(try await fixture.store.ledger().balances)
    }
}
