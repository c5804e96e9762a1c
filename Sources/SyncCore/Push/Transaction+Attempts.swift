import TablesProtocol

extension Transaction {
    /// How many of an operation's attempts failed by its own fault: an answer came, was no verdict,
    /// and neither the link nor the backend as a whole was to blame.
    func ownFailures(of operation: TableOperation) throws -> Int {
        let count = try integer(
            """
            SELECT count(*) FROM attempts
            WHERE operation = ? AND outcome IN ('waiting', 'unknown')
              AND status IS NOT NULL AND status <> 401 AND error IS NULL
              AND NOT (method = 'GET' AND status = 200)
            """, [operation.seq])
        return Int(count ?? 0)
    }

    /// The ids of a table that inserts got from the backend.
    func claimedIDs(of table: TableRecord) throws -> Set<String> {
        Set(try column("SELECT id FROM aliases WHERE table_id = ?", [table.id]))
    }

    /// Whether the backend has had a table: it was pulled, or an operation on it has arrived.
    func wasThere(_ table: TableRecord) throws -> Bool {
        if table.isComplete || table.lastPullAt != nil { return true }
        return try integer(
            "SELECT 1 FROM state_counts WHERE table_id = ? AND state = 'done'", [table.id]) != nil
    }

    /// Whether another insert of the table got this id from the backend.
    func isClaimed(_ id: ItemID, _ operation: TableOperation) throws -> Bool {
        try integer(
            "SELECT 1 FROM aliases WHERE table_id = ? AND id = ? LIMIT 1",
            [operation.tableID, id.text]) != nil
    }

    /// Whether a waiting operation was last tried at a time that is still to come.
    func hasAttempts(after now: Instant) throws -> Bool {
        try integer(
            """
            SELECT 1 FROM operations INDEXED BY operations_timed
            WHERE state IN ('waiting', 'unknown') AND successor_of IS NULL
              AND waits_for IS NULL AND last_attempt_at > ? LIMIT 1
            """, [now.milliseconds]) != nil
    }
}
