import Storage
public import TablesProtocol

/// The outcome of removing a table.
public enum TableRemovalOutcome: Sendable, Hashable {
    /// Rows removed and operations given up.
    case removed(items: Int, discarded: Int)
    /// Operations are open, and force was not asked for.
    case refusedPending(Int)
    /// A request of the table is on its way, or a run is: try again.
    case refusedRunning
    case unknownTable
    case failed(String)
}

/// Removes a table from a store: its rows, tombstones, operations, history, pull tokens, rows that are set
/// aside, indexes and settings. The backend keeps its rows.
struct TableRemoval {
    let transaction: Transaction
    private var tables: TableRecords { transaction.tables }
    private var indexes: TableIndexes { TableIndexes(transaction) }
    private var discarding: Discarding { Discarding(transaction: transaction) }

    /// Removes the table in one transaction.
    ///
    /// 1. Open operations forbid it, unless it is forced; one on its way forbids it even then.
    /// 2. Forced, the operations are given up, the latest first, so that the ledger counts them and what
    ///    waits for them goes on.
    /// 3. Everything else of the table goes with its row in `tables`, by the references to it.
    func remove(_ name: TableName, force: Bool) throws -> TableRemovalOutcome {
        guard let table = try tables.table(name) else { return .unknownTable }
        let open = try openOperations(of: table)
        guard open.isEmpty || force else { return .refusedPending(open.count) }
        guard !open.contains(where: { $0.state == .sending }) else { return .refusedRunning }
        let items = try transaction.integer(
            "SELECT live_items FROM table_counters WHERE table_id = ?", [table.id])
        for operation in open.reversed() {
            _ = try discarding.discard(operation.id, revision: nil)
        }
        // Otherwise open operations would go with the table, and the ledger would not balance.
        guard try openOperations(of: table).isEmpty else {
            throw StoreError.failed(
                "Not every operation of the table could be discarded, so nothing was removed. Discard "
                    + "them one by one, then remove the table.")
        }
        for index in try indexes.statuses(of: table.id) {
            _ = try indexes.drop(index.id, of: table.id)
        }
        try tables.remove(table)
        try transaction.history.record(
            .purged, actor: .person,
            summary: "Removed the table \(table.name) with \(items ?? 0) items, and gave up "
                + "\(open.count) changes.")
        transaction.events.emit(.item, table: table.name)
        return .removed(items: Int(items ?? 0), discarded: open.count)
    }

    private func openOperations(of table: TableRecord) throws -> [TableOperation] {
        try Purging(transaction: transaction).openOperations(of: table)
    }
}

extension SyncEngine {
    /// Removes a table from the store. The backend keeps its rows, and the next read of a client, or a
    /// sync that pulls the table by the settings, copies it again.
    /// - Parameter force: gives up the open operations of the table, which are lost with its history;
    ///   without it a table with an open operation is left alone.
    public func remove(_ table: TableName, force: Bool = false) async -> TableRemovalOutcome {
        // A run holds records of the tables that it works on.
        if current != nil { return .refusedRunning }
        do throws(StoreError) {
            return try await store.write {
                try TableRemoval(transaction: $0).remove(table, force: force)
            }
        } catch {
            return .failed(error.description)
        }
    }
}
