import GRDB

extension Transaction {
    /// How many of an operation's attempts failed by its own fault: an answer came, was no verdict,
    /// and neither the link nor the backend as a whole was to blame.
    func ownFailures(of operation: TableOperation) throws -> Int {
        try Int.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM attempts
                WHERE operation = ? AND outcome IN ('waiting', 'unknown')
                  AND status IS NOT NULL AND status <> 401 AND error IS NULL
                  AND NOT (method = 'GET' AND status = 200)
                """,
            arguments: [operation.seq]) ?? 0
    }
}
