import Storage
import TablesProtocol

/// Removes rows whose retention time is over.
struct Sweep {
    let transaction: Transaction
    var retention = Retention()

    /// Removes expired rows, at most ``StoreLimits/sweepRows`` of each kind. Open operations and their
    /// items are never removed.
    /// - Returns: whether more expired rows are left.
    func run() throws -> Bool {
        let limit = StoreLimits.sweepRows
        let keep = StoreLimits.historyEntries
        let history = before(retention.historySeconds)
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
              INDEXED BY operations_closed WHERE closed_at IS NOT NULL
              AND NOT EXISTS (SELECT 1 FROM meta WHERE key = '\(HandingOver.givenKey)') AND (closed_at < ?1
              OR seq <= (SELECT seq FROM sqlite_sequence WHERE name = 'operations') - ?3)
              ORDER BY closed_at LIMIT ?2)
            """, history, keep)
        try delete(
            """
            DELETE FROM attempts WHERE operation IN (SELECT seq FROM operations
              INDEXED BY operations_closed WHERE closed_at < ?1
              AND EXISTS (SELECT 1 FROM attempts WHERE operation = seq)
              ORDER BY closed_at LIMIT ?2)
            """, before(retention.attemptSeconds))
        try delete(
            """
            DELETE FROM items WHERE rowid IN (SELECT rowid FROM items INDEXED BY items_tombstones
              WHERE deleted = 1 AND stamp < ?1 AND pending IS NULL LIMIT ?2)
            """, before(retention.tombstoneSeconds))
        try delete(
            "DELETE FROM samples WHERE at IN (SELECT at FROM samples WHERE at < ?1 LIMIT ?2)",
            oldestSample.milliseconds)
        try transaction.run(
            """
            DELETE FROM runs WHERE ended_at IS NOT NULL AND seq <=
              (SELECT seq FROM sqlite_sequence WHERE name = 'runs') - ?
            """, [StoreLimits.runs])
        return removed.contains { $0 >= limit }
    }

    /// The beginning of the first minute whose sample is kept: the one that the time lies in.
    private var oldestSample: Instant {
        Instant(milliseconds: before(Int64(StoreLimits.sampleDays) * 86_400))
            .roundedDown(toSeconds: 60)
    }

    private func before(_ seconds: Int64) -> Int64 {
        transaction.now.milliseconds - seconds * 1000
    }
}

/// How long what is settled is kept; null: without a limit.
public struct Retention: Codable, Sendable, Hashable {
    public var historySeconds = StoreLimits.historySeconds
    public var attemptSeconds = StoreLimits.attemptSeconds
    public var tombstoneSeconds = StoreLimits.tombstoneSeconds
    public var historyBytes: Int64?
    public var attemptBytes: Int64?

    /// The times and sizes unless others are set.
    public init() {}
}

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
        func delete(_ number: Int64?, _ sql: String) throws -> Bool {
            guard let number else { return false }
            try transaction.run(sql, [number, limit])
            return transaction.db.changedRows >= limit
        }
        let isMoreHistory = try delete(
            cut.history,
            "DELETE FROM history WHERE id IN (SELECT id FROM history WHERE id <= ? ORDER BY id LIMIT ?)"
        )
        let areMoreAttempts = try delete(
            cut.attempts,
            """
            DELETE FROM attempts WHERE operation IN (SELECT DISTINCT operation FROM attempts
              JOIN operations ON operations.seq = attempts.operation
              WHERE operation <= ? AND operations.closed_at IS NOT NULL
              ORDER BY operation LIMIT ?)
            """)
        return isMoreHistory || areMoreAttempts
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
