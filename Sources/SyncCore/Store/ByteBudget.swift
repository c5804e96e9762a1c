import Storage

/// Holds history and the attempts of closed operations within their bytes, the oldest go first.
struct ByteBudget {
    let transaction: Transaction

    /// The numbers up to which rows go; nil where all fit.
    struct Cut: Sendable, Hashable {
        var history: Int64?
        var attempts: Int64?
    }

    /// Adds the texts from the latest row back, until the budget is used up. Reads all rows, so it belongs
    /// on a reader.
    func cut(_ retention: Retention) throws -> Cut {
        Cut(
            history: try retention.historyBytes.flatMap { bytes in
                try transaction.integer(
                    """
                    SELECT max(id) FROM (SELECT history.id, sum(\(Self.bytes(Self.historyTexts)))
                      OVER (ORDER BY history.id DESC) AS total
                      FROM history LEFT JOIN undo_points ON undo_points.history = history.id)
                    WHERE total > ?
                    """, [bytes])
            },
            attempts: try retention.attemptBytes.flatMap { bytes in
                try transaction.integer(
                    """
                    SELECT max(operation) FROM (SELECT operation, sum(\(Self.bytes(Self.attemptTexts)))
                      OVER (ORDER BY operation DESC, number DESC) AS total
                      FROM attempts JOIN operations ON operations.seq = attempts.operation
                      WHERE operations.closed_at IS NOT NULL)
                    WHERE total > ?
                    """, [bytes])
            })
    }

    /// Removes rows up to a cut, at most ``StoreLimits/sweepRows`` of each kind.
    /// - Returns: whether more are left.
    func remove(upTo cut: Cut) throws -> Bool {
        let limit = StoreLimits.sweepRows
        var removed: [Int] = []
        if let history = cut.history {
            try transaction.run(
                "DELETE FROM history WHERE id IN (SELECT id FROM history WHERE id <= ? ORDER BY id LIMIT ?)",
                [history, limit])
            removed.append(transaction.db.changedRows)
        }
        if let attempts = cut.attempts {
            try transaction.run(
                """
                DELETE FROM attempts WHERE operation IN (SELECT DISTINCT operation FROM attempts
                  JOIN operations ON operations.seq = attempts.operation
                  WHERE operation <= ? AND operations.closed_at IS NOT NULL
                  ORDER BY operation LIMIT ?)
                """, [attempts, limit])
            removed.append(transaction.db.changedRows)
        }
        return removed.contains { $0 >= limit }
    }

    private static let historyTexts = [
        "history.before", "history.after", "history.summary", "undo_points.base_row",
        "undo_points.payload", "undo_points.mine", "undo_points.server",
    ]
    private static let attemptTexts = [
        "target", "request_fields", "request_body", "response_fields", "response_excerpt", "error",
    ]

    /// The bytes of some texts, and those that a row takes beside them.
    private static func bytes(_ texts: [String]) -> String {
        texts.map { "coalesce(length(CAST(\($0) AS BLOB)), 0)" }.joined(separator: " + ")
            + " + \(StoreLimits.rowOverheadBytes)"
    }
}
