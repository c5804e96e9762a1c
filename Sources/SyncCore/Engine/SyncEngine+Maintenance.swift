import Logging
import Storage
import TablesProtocol

extension SyncEngine {
    /// Once a minute: stores a sample, removes expired rows, and stores what costly lists were seen.
    func runMaintenance() async {
        await sampleMinute()
        let now = clock.now()
        guard now.milliseconds - maintainedAt.milliseconds >= SyncLimits.maintenanceSeconds * 1000
        else { return }
        maintainedAt = now
        do {
            try await store.write { transaction in
                _ = try Sweep(transaction: transaction).run()
            }
            try await store.noteCostlyLists()
        } catch {
            log.warning("maintenance failed", metadata: ["error": "\(error)"])
        }
    }
}

/// Removes rows whose retention time is over.
struct Sweep {
    let transaction: Transaction

    /// Removes expired rows, at most ``StoreLimits/sweepRows`` of each kind. Open operations and their
    /// items are never removed.
    /// - Returns: whether more expired rows are left.
    func run() throws -> Bool {
        let history = before(days: StoreLimits.historyDays)
        let limit = StoreLimits.sweepRows
        let keep = StoreLimits.historyEntries
        var removed: [Int] = []
        func delete(_ sql: String, _ cutoff: Int64, _ keep: Int? = nil) throws {
            try transaction.run(sql, keep.map { [cutoff, limit, $0] } ?? [cutoff, limit])
            removed.append(transaction.db.changedRows)
        }
        try delete(
            """
            DELETE FROM history WHERE id IN (SELECT id FROM history WHERE at < ?1 OR id <=
              (SELECT seq FROM sqlite_sequence WHERE name = 'history') - ?3 ORDER BY id LIMIT ?2)
            """, history, keep)
        try delete(
            """
            DELETE FROM operations WHERE seq IN (SELECT seq FROM operations
              INDEXED BY operations_closed WHERE closed_at IS NOT NULL AND (closed_at < ?1
              OR seq <= (SELECT seq FROM sqlite_sequence WHERE name = 'operations') - ?3)
              ORDER BY closed_at LIMIT ?2)
            """, history, keep)
        try delete(
            """
            DELETE FROM items WHERE rowid IN (SELECT rowid FROM items INDEXED BY items_tombstones
              WHERE deleted = 1 AND stamp < ?1 AND pending IS NULL LIMIT ?2)
            """, before(days: StoreLimits.tombstoneDays))
        try delete(
            "DELETE FROM samples WHERE at IN (SELECT at FROM samples WHERE at < ?1 LIMIT ?2)",
            before(days: StoreLimits.sampleDays))
        try transaction.run(
            """
            DELETE FROM runs WHERE ended_at IS NOT NULL AND seq <=
              (SELECT seq FROM sqlite_sequence WHERE name = 'runs') - ?
            """, [StoreLimits.runs])
        return removed.contains { $0 >= limit }
    }

    private func before(days: Int) -> Int64 {
        transaction.now.milliseconds - Int64(days) * 86_400_000
    }
}
