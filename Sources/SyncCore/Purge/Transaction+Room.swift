import Storage

extension Transaction {
    /// Makes room for what the backend has not. Open operations and their rows stay.
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
        let oldest = try all(
            """
            SELECT rowid, table_id FROM items
            WHERE pending IS NULL AND deleted = 0
              AND (server_version IS NOT NULL OR server_updated_at IS NOT NULL)
            ORDER BY stamp LIMIT ?
            """, [limit]
        ) { (item: $0[0] as Int64, tableID: $0[1] as Int64) }
        var counts: [Int64: Int] = [:]
        for (item, tableID) in oldest {
            try run("DELETE FROM items WHERE rowid = ?", [item])
            counts[tableID, default: 0] += 1
        }
        for (tableID, count) in counts {
            guard var table = try table(id: tableID) else { continue }
            try removeTokens(of: table)
            table.isComplete = false
            try save(table)
            try record(
                .purged, actor: .engine, tableID: table.id,
                summary: "Forgot \(count) items that the backend has as well: there was no room.")
            emit(.item, table: table.name)
        }
        return oldest.isEmpty ? try forgetHistory(limit) : oldest.count
    }

    private func forgetHistory(_ limit: Int) throws -> Int {
        try run(
            "DELETE FROM history WHERE id IN (SELECT id FROM history ORDER BY id LIMIT ?)", [limit])
        var count = db.changedRows
        try run(
            """
            DELETE FROM operations WHERE seq IN (SELECT seq FROM operations
              INDEXED BY operations_closed WHERE closed_at IS NOT NULL ORDER BY closed_at LIMIT ?)
            """, [limit])
        count += db.changedRows
        try run(
            """
            DELETE FROM items WHERE rowid IN (SELECT rowid FROM items
              WHERE pending IS NULL AND deleted = 1 AND server_deleted = 0 LIMIT ?)
            """, [limit])
        return count + db.changedRows
    }
}
