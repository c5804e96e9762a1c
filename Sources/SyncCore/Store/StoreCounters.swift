import Storage
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

/// The limits beyond which a store gives new numbers to clients. Clients may keep a number longer than the
/// store: it is not given again after its table was removed or a backup replaced the store.
struct CounterFloor: Sendable, Hashable {
    let stamp: Int64
    /// The next provisional id, below all that were given.
    let provisionalID: Int64

    /// Makes a floor within the numbers that a store can give: a foreign file may have others.
    init(stamp: Int64 = 0, provisionalID: Int64 = StoreLimits.largestProvisionalID) {
        self.stamp = min(max(stamp, 0), Instant.latest.milliseconds)
        let isPossible = (1...StoreLimits.largestProvisionalID).contains(provisionalID)
        self.provisionalID = isPossible ? provisionalID : StoreLimits.largestProvisionalID
    }

    /// The farther number of each.
    func joined(_ other: CounterFloor) -> CounterFloor {
        CounterFloor(
            stamp: max(stamp, other.stamp), provisionalID: min(provisionalID, other.provisionalID))
    }
}

/// The counters for stamps, provisional ids and push outcomes: `table_counters`, and values of `meta`.
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

    /// The table's latest stamp, as it is committed; nil before the first.
    func lastStamp(_ tableID: Int64) throws -> Instant? {
        let stamp = try transaction.integer(
            "SELECT last_stamp FROM table_counters WHERE table_id = ? AND last_stamp > 0", [tableID]
        )
        return stamp.map { Instant(milliseconds: $0) }
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

    /// A provisional id for an item of an integer table: positive, as the SDKs want ids to be, never used twice,
    /// and none that the table has.
    func nextProvisionalID(_ tableID: Int64) throws -> ItemID {
        while true {
            let next = try transaction.integer(
                """
                UPDATE table_counters SET next_provisional_id = next_provisional_id - 1
                WHERE table_id = ? RETURNING next_provisional_id + 1
                """, [tableID])
            guard let next else { throw StoreError.failed("A table has no counters.") }
            guard next > 0 else { throw StoreError.failed("A table has no provisional id left.") }
            let isTaken = try transaction.integer(
                """
                SELECT 1 FROM items WHERE table_id = ?1 AND id = ?2
                UNION ALL SELECT 1 FROM aliases WHERE table_id = ?1 AND (alias = ?2 OR id = ?2) LIMIT 1
                """, [tableID, String(next)])
            if isTaken == nil { return ItemID(next) }
        }
    }

    /// What all tables of the store have given, those too that were removed.
    func floor() throws -> CounterFloor {
        let given = try transaction.first(
            """
            SELECT coalesce(max(last_stamp), 0), coalesce(min(next_provisional_id), 0)
            FROM table_counters
            """
        ) { CounterFloor(stamp: $0[0], provisionalID: $0[1]) }
        return try removedFloor().joined(given ?? CounterFloor())
    }

    /// The floor of removed tables and of the store that a backup replaced. A new table may have the name of
    /// one of these tables.
    private func removedFloor() throws -> CounterFloor {
        CounterFloor(
            stamp: try transaction.integer("SELECT value FROM meta WHERE key = 'removed_stamp'")
                ?? 0,
            provisionalID: try transaction.integer(
                "SELECT value FROM meta WHERE key = 'removed_provisional_id'") ?? 0)
    }

    /// Lets the tables that are made from now on begin beyond a floor.
    func keepForNewTables(_ floor: CounterFloor) throws {
        let floor = try removedFloor().joined(floor)
        try transaction.run(
            """
            INSERT OR REPLACE INTO meta VALUES ('removed_stamp', ?), ('removed_provisional_id', ?)
            """, [floor.stamp, floor.provisionalID])
    }

    /// Keeps what a table has given, before it is removed.
    func keepGiven(ofRemoved tableID: Int64) throws {
        let given = try transaction.first(
            "SELECT last_stamp, next_provisional_id FROM table_counters WHERE table_id = ?",
            [tableID]
        ) { CounterFloor(stamp: $0[0], provisionalID: $0[1]) }
        let inMemory = CounterFloor(stamp: transaction.deferred.lastStamps[tableID] ?? 0)
        try keepForNewTables(inMemory.joined(given ?? CounterFloor()))
    }

    /// Begins the counters of a new table beyond what removed tables and a replaced store have given.
    func beginBeyondRemoved(_ tableID: Int64) throws {
        let floor = try removedFloor()
        try transaction.run(
            "UPDATE table_counters SET last_stamp = ?, next_provisional_id = ? WHERE table_id = ?",
            [floor.stamp, floor.provisionalID, tableID])
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
