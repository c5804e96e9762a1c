import GRDB
import Synchronization
import Testing

@testable import Storage
@testable import SyncCore

/// SQLite's query plans for the statements of a write and a push.
@Suite struct StatementPlanTests {
    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    /// The statements that a body runs on the writer, values filled in.
    private func statements(
        of body: () async throws -> Void
    ) async throws -> [String] {
        let found = Found()
        try await fixture.store.write { transaction in
            transaction.db.database.trace { event in
                guard case .statement(let statement) = event else { return }
                found.add(statement.expandedSQL)
            }
        }
        try await body()
        try await fixture.store.write { $0.db.database.trace(options: [], nil) }
        return found.all
    }

    private final class Found: Sendable {
        private let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock { $0 } }
        func add(_ text: String) { texts.withLock { $0.append(text) } }
    }

    /// The number of temporary tables that SQLite makes for a statement.
    private func tablesMade(for sql: String) async throws -> Int {
        try await fixture.store.write { transaction in
            try Row.fetchAll(transaction.db.database, sql: "EXPLAIN " + sql)
                .count { $0["opcode"] == "OpenEphemeral" }
        }
    }

    @Test func `a write and its push make no temporary tables except in triggers that seldom run`()
        async throws
    {
        try await fixture.insert("first")
        let statements = try await statements {
            try await fixture.insert("a")
            try await fixture.update("a", #"{"text":"bread"}"#)
            try await fixture.push { _ in .applied(row: nil, RowOrigin()) }
        }
        let writes = statements.filter { ["INSERT", "UPDATE", "DELETE"].contains($0.prefix(6)) }
        #expect(writes.count > 10, "\(statements)")
        for write in writes {
            // What waits for an operation is updated by a trigger, only where there is such. Another one
            // removes the aliases of an item, only when it ends.
            let hasRareTrigger = ["UPDATE operations", "UPDATE items"].contains(
                where: write.hasPrefix)
            let most = hasRareTrigger ? 1 : 0
            #expect(try await tablesMade(for: write) <= most, "\(write)")
        }
    }
}
