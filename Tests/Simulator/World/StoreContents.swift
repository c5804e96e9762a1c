import Storage
package import TablesProtocol

@testable package import SyncCore

/// Open operations that are looked at.
private let openOperationsMax = 100_000

/// What the simulator asks of a store beyond what the program asks: to see all that has to hold together
/// at one moment, and to bring about by a call what otherwise comes with time or with a disk.
extension Store {
    /// One row, and what the store knows of the backend's.
    package struct StoredRow: Sendable {
        /// The row as clients see it.
        package var item: Item
        /// The backend's own texts; nil where it has no such row or did not say.
        package var serverVersion: String?
        package var serverUpdatedAt: String?
        /// Whether an operation of the item is open.
        package var isPending: Bool
    }

    /// A store at one moment.
    package struct Contents: Sendable {
        /// The account of every write.
        package var ledger: Ledger
        /// Every open operation, in order.
        package var open: [OperationSummary]
        /// The live rows of one table, by id.
        package var rows: [String: Item]
    }

    /// The ledger, the open operations and the live rows of a table, in one transaction.
    package func contents(of table: TableName) async throws(StoreError) -> Contents {
        try await read { transaction in
            let open = try OperationLists(transaction: transaction).page(
                OperationFilter(states: OperationState.open), after: 0,
                limit: openOperationsMax
            ).items.map { $0.summary(identity: transaction.identity) }
            let rows = try Self.rows(of: table, transaction, where: "deleted = 0")
                .map { ($0.item.id.text, $0.item) }
            return Contents(
                ledger: try transaction.ledger.read(), open: open,
                rows: Dictionary(uniqueKeysWithValues: rows))
        }
    }

    /// Every row of some tables, tombstones too, in one transaction.
    package func rows(
        of tables: [TableName]
    ) async throws(StoreError) -> [TableName: [StoredRow]] {
        try await read { transaction in
            var rows: [TableName: [StoredRow]] = [:]
            for table in tables { rows[table] = try Self.rows(of: table, transaction) }
            return rows
        }
    }

    /// Whether a table is known to delete softly.
    package func deletesSoftly(_ table: TableName) async throws(StoreError) -> Bool {
        try await read { try $0.tables.table(table)?.deletion == .soft }
    }

    private static func rows(
        of table: TableName, _ transaction: Transaction, where condition: String = "true"
    ) throws -> [StoredRow] {
        guard let record = try transaction.tables.table(table) else { return [] }
        let places = StatementRow.itemColumnCount
        return try transaction.all(
            """
            SELECT \(StatementRow.itemColumns), server_version, server_updated_at, pending
            FROM items WHERE table_id = ? AND \(condition)
            """, [record.id]
        ) { row in
            StoredRow(
                item: row.item(record.idKind), serverVersion: row[places],
                serverUpdatedAt: row[places + 1], isPending: (row[places + 2] as Int64?) != nil)
        }
    }

    /// Removes what is kept no longer, as the engine does each minute.
    package func sweep() async throws(StoreError) {
        _ = try await write { try Sweep(transaction: $0).run() }
    }

    /// Limits the file to its present size, as on a full disk, or removes that limit.
    package func limitSize(_ isHeld: Bool) async throws(StoreError) {
        try await write { transaction in
            let pages = Int(try transaction.integer("PRAGMA page_count") ?? 0)
            let most = isHeld ? pages : StorageLimits.filePages
            try transaction.run("PRAGMA max_page_count = \(most)", keep: false)
        }
    }

    /// Whether something that was begun is not over.
    package var isAtWork: Bool { underWay.count > 0 }

    /// Returns when nothing that was begun is under way on any connection.
    package func settle() {
        // A committer that has answered its group queues up once more: hence twice.
        for _ in 1...2 { writer.read { _ in } }
        for reader in [reading.reader, reading.searcher] { reader.access { _ in } }
    }
}
