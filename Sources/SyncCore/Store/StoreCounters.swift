import TablesProtocol

/// Counters that a transaction keeps in memory while it runs, so that one statement writes at its end what
/// would be one for each row (``Transaction/flush()``). What is counted for a part that is taken back is not
/// used, and leaves a gap.
///
/// A class, which lives and dies with its transaction, on one thread.
final class DeferredCounters {
    /// The last stamp of each table that got one.
    var lastStamps: [Int64: Int64] = [:]
    /// The counter of committed push outcomes, once there was one.
    var changes: Int64?
}

/// The counters for stamps, provisional ids and push outcomes: `table_counters`, and one value of `meta`.
struct StoreCounters {
    let transaction: Transaction

    /// Writes the counters that were kept in memory.
    func flush() throws {
        for (table, stamp) in transaction.deferred.lastStamps {
            try transaction.run(
                "UPDATE table_counters SET last_stamp = ? WHERE table_id = ?", [stamp, table])
        }
        if let changes = transaction.deferred.changes {
            try transaction.run("UPDATE meta SET value = ? WHERE key = 'changes'", [changes])
        }
    }

    /// The table's next stamp: now, and later than every stamp before.
    func nextStamp(_ tableID: Int64) throws -> Int64 {
        let stored = "SELECT last_stamp FROM table_counters WHERE table_id = ?"
        guard
            let last = try transaction.deferred.lastStamps[tableID]
                ?? transaction.integer(stored, [tableID])
        else {
            throw StoreError.failed("A table has no counters.")
        }
        let stamp = max(transaction.now.milliseconds, last + 1)
        transaction.deferred.lastStamps[tableID] = stamp
        return stamp
    }

    /// A provisional id for an item of an integer table: negative, never used twice.
    func nextProvisionalID(_ tableID: Int64) throws -> ItemID {
        let next = try transaction.integer(
            """
            UPDATE table_counters SET next_provisional_id = next_provisional_id - 1
            WHERE table_id = ? RETURNING next_provisional_id + 1
            """, [tableID])
        guard let next else { throw StoreError.failed("A table has no counters.") }
        return ItemID(next)
    }

    /// Counts a committed push outcome, so that a page asked for earlier does not undo it.
    func nextChange() throws -> Int64 {
        let next = try changeCount() + 1
        transaction.deferred.changes = next
        return next
    }

    /// The counter of committed push outcomes: read before a page is asked for, given to ``PulledRows``.
    func changeCount() throws -> Int64 {
        try transaction.deferred.changes ?? transaction.integer(
            "SELECT value FROM meta WHERE key = 'changes'") ?? 0
    }
}
