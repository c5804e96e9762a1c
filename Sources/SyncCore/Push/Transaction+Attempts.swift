import GRDB

extension Transaction {
    /// How many of an operation's attempts failed by its own fault: an answer came that is not the
    /// link's ("not now", or none at all).
    func ownFailures(of operation: TableOperation) throws -> Int {
        try Int.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM attempts
                WHERE operation = ? AND number < ? AND reach IS NULL AND method <> 'GET'
                  AND (status = 408 OR status BETWEEN 200 AND 399
                    OR status >= 500 AND status NOT IN (502, 503, 504))
                """,
            arguments: [operation.seq, operation.attempts]) ?? 0
    }
}
