import Storage
public import TablesProtocol

public enum PurgeOutcome: Sendable, Hashable {
    /// Rows removed and operations given up. `entry` is the id of the history entry whose undo brings the
    /// operations back; nil if none was given up, and for a preview.
    case purged(items: Int, discarded: Int, entry: Int64? = nil)
    /// Operations are open, and force was not asked for.
    case refusedPending(Int)
    /// An operation is being sent at this moment: try again.
    case refusedSending
    case unknownTable
    case invalid(String)
    case failed(String)
}

/// Forgets rows that the backend has as well.
struct Purging: InTransaction {
    let transaction: Transaction

    /// Forgets the rows of a table that match, in one transaction.
    ///
    /// 1. Open operations forbid it, unless it is forced; one on its way forbids it even then.
    /// 2. Forced, the operations of the rows are given up, the latest first, each into history, from
    ///    where each can be brought back, or all of them with the purge.
    /// 3. The rows go without tombstones: this is forgetting, not deleting.
    /// 4. Every token goes, so that the next pull brings back what is still there.
    func purge(_ name: TableName, _ query: TableQuery, force: Bool) throws -> PurgeOutcome {
        guard var table = try tables.table(name) else { return .unknownTable }
        let open = try openOperations(of: table)
        guard open.isEmpty || force else { return .refusedPending(open.count) }
        guard !open.contains(where: { $0.state == .sending }) else { return .refusedSending }
        let matching = try matching(query, in: table)
        var discarded = 0
        for operation in open.reversed() where matching?.contains(operation.itemID.text) ?? true {
            _ = try discarding.discard(operation.id, revision: nil)
            discarded += 1
        }
        let items = try forget(matching, of: table)
        try tokens.remove(of: table)
        table.isComplete = false
        try tables.save(table)
        let entry = try history.record(
            .purged, actor: .person, tableID: table.id,
            summary: "Forgot \(items) items and gave up \(discarded) changes.",
            undoable: discarded > 0)
        events.emit(.item, table: table.name)
        return .purged(
            items: items, discarded: discarded, entry: discarded > 0 ? entry : nil)
    }

    /// The open operations of a table, in their order.
    func openOperations(of table: TableRecord) throws -> [TableOperation] {
        let seqs: [Int64] = try transaction.column(
            """
            SELECT seq FROM operations WHERE table_id = ? AND state IN (\(OperationState.openInSQL))
            ORDER BY seq
            """, [table.id])
        return try seqs.compactMap { try queue.operation(seq: $0) }
    }

    /// The ids that match; nil for a query without a filter, which means all.
    private func matching(_ query: TableQuery, in table: TableRecord) throws -> Set<String>? {
        guard query.filter != nil else { return nil }
        let page = ItemQuery(query, table: table, pageRows: SyncLimits.purgeRows).page
        return Set(try transaction.column(page.text, page.arguments, keep: false))
    }

    private func forget(_ ids: Set<String>?, of table: TableRecord) throws -> Int {
        guard let ids else {
            try transaction.run(
                "DELETE FROM items WHERE table_id = ? AND pending IS NULL", [table.id])
            return transaction.db.changedRows
        }
        var count = 0
        for id in ids.sorted() {
            try transaction.run(
                "DELETE FROM items WHERE table_id = ? AND id = ? AND pending IS NULL",
                [table.id, id])
            count += transaction.db.changedRows
        }
        return count
    }

    /// Removes rows to make room for what the backend does not have. Open operations and their rows stay.
    ///
    /// 1. Take the clean rows of all tables that were not changed for longest and that the backend has
    ///    as well.
    /// 2. Each table that loses some is no longer complete, and forgets how far it was pulled, so that
    ///    the next pull brings back what is still there.
    /// 3. The rows go without tombstones: this is forgetting, not deleting.
    /// 4. Where there are none, the oldest history, closed operations and tombstones that are not of
    ///    the backend go before their time.
    ///
    /// Returns how many rows were forgotten.
    func forgetOldest(_ limit: Int) throws -> Int {
        let oldest = try transaction.all(
            """
            SELECT rowid, table_id FROM items
            WHERE pending IS NULL AND deleted = 0
              AND (server_version IS NOT NULL OR server_updated_at IS NOT NULL)
            ORDER BY stamp LIMIT ?
            """, [limit]
        ) { (item: $0[0] as Int64, tableID: $0[1] as Int64) }
        var counts: [Int64: Int] = [:]
        for (item, tableID) in oldest {
            try transaction.run("DELETE FROM items WHERE rowid = ?", [item])
            counts[tableID, default: 0] += 1
        }
        for (tableID, count) in counts {
            guard var table = try tables.table(id: tableID) else { continue }
            try tokens.remove(of: table)
            table.isComplete = false
            try tables.save(table)
            try history.record(
                .purged, actor: .engine, tableID: table.id,
                summary: "Forgot \(count) items that the backend has as well: there was no room.")
            events.emit(.item, table: table.name)
        }
        return oldest.isEmpty ? try forgetHistory(limit) : oldest.count
    }

    /// Whether ``forgetOldest(_:)`` would find anything.
    func canForget() throws -> Bool {
        try transaction.integer(
            """
            SELECT EXISTS (SELECT 1 FROM items WHERE pending IS NULL AND deleted = 0
                AND (server_version IS NOT NULL OR server_updated_at IS NOT NULL))
              OR EXISTS (SELECT 1 FROM history)
              OR EXISTS (SELECT 1 FROM operations WHERE closed_at IS NOT NULL)
              OR EXISTS (SELECT 1 FROM items
                WHERE pending IS NULL AND deleted = 1 AND server_deleted = 0)
            """) == 1
    }

    private func forgetHistory(_ limit: Int) throws -> Int {
        try transaction.run(
            "DELETE FROM history WHERE id IN (SELECT id FROM history ORDER BY id LIMIT ?)", [limit])
        var count = transaction.db.changedRows
        try transaction.run(
            """
            DELETE FROM operations WHERE seq IN (SELECT seq FROM operations
              INDEXED BY operations_closed WHERE closed_at IS NOT NULL ORDER BY closed_at LIMIT ?)
            """, [limit])
        count += transaction.db.changedRows
        try transaction.run(
            """
            DELETE FROM items WHERE rowid IN (SELECT rowid FROM items
              WHERE pending IS NULL AND deleted = 1 AND server_deleted = 0 LIMIT ?)
            """, [limit])
        return count + transaction.db.changedRows
    }
}

extension SyncEngine {
    /// Forgets rows of a table, and all its pull tokens so that they can be pulled again.
    /// - Parameters:
    ///   - filter: `$filter` text; nil for all rows.
    ///   - force: gives up the open operations of those rows, into history; without it a table with
    ///     any open operation is left alone.
    ///   - dryRun: says what would become of it, and changes nothing.
    public func purge(
        _ table: TableName, filter: String? = nil, force: Bool = false, dryRun: Bool = false
    ) async -> PurgeOutcome {
        let query: TableQuery
        do throws(ODataError) {
            let pairs = filter.map { [QueryParameter(name: "$filter", value: $0, raw: "")] } ?? []
            query = try TableQuery.parse(pairs, generation: .mobileApps)
        } catch {
            return .invalid(error.description)
        }
        do throws(StoreError) {
            let purge: @Sendable (Transaction) throws -> PurgeOutcome = {
                try Purging(transaction: $0).purge(table, query, force: force)
            }
            guard dryRun else { return try await store.write(purge) }
            let outcome = try await store.preview(purge)
            // The entry was rolled back with the rest.
            guard case .purged(let items, let discarded, _) = outcome else { return outcome }
            return .purged(items: items, discarded: discarded)
        } catch {
            return .failed(error.description)
        }
    }
}

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
struct TableRemoval: InTransaction {
    let transaction: Transaction

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
        try TableIndexes(transaction).set([], of: table.id)
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
        if runner.current != nil { return .refusedRunning }
        do throws(StoreError) {
            return try await store.write {
                try TableRemoval(transaction: $0).remove(table, force: force)
            }
        } catch {
            return .failed(error.description)
        }
    }
}
