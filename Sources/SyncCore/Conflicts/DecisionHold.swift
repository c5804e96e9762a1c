import Storage
import TablesProtocol

/// Holds back what a decision left to send, so that a person can undo it before it is sent.
///
/// 1. A held operation waits for a time (`not_before`), as after a `Retry-After`: no push that starts by
///    itself sends it earlier.
/// 2. It is sent earlier when a person asks for a sync, or when the page that offers the undo ends the hold.
/// 3. If that page is gone, the time passes. Nothing is lost.
struct DecisionHold: InTransaction {
    let transaction: Transaction

    /// Follows the reason of a held operation, and marks it.
    static let mark = "It is held back for a moment so that the decision can be undone."

    /// Holds an operation back, if it is queued.
    func hold(_ operation: inout TableOperation, seconds: Int) throws {
        guard operation.state == .queued else { return }
        operation.state = .waiting
        operation.reason = "\(operation.reason ?? "Decided.") \(Self.mark)"
        operation.nextAttemptAt = Instant(
            milliseconds: transaction.now.milliseconds + Int64(seconds) * 1000)
        try queue.save(&operation)
        try transaction.run(
            "UPDATE operations SET not_before = next_attempt_at WHERE seq = ?", [operation.seq])
    }

    /// The reason that an operation had before it was held; nil if it is not held.
    static func withoutMark(_ reason: String) -> String? {
        guard reason.hasSuffix(mark) else { return nil }
        return String(reason.dropLast(mark.count + 1))  // There is a blank before it.
    }

    /// The number of operations that are held now.
    func count() throws -> Int64 {
        // Only these few rows are read, however many wait.
        try transaction.integer(
            """
            SELECT count(*) FROM operations INDEXED BY operations_timed
            WHERE state IN ('waiting', 'unknown') AND successor_of IS NULL AND waits_for IS NULL
              AND next_attempt_at BETWEEN ?1 AND ?1 + ?2 AND reason LIKE '%' || ?3
              AND table_id NOT IN \(TableWaits.pausedTables)
            """,
            [
                transaction.now.milliseconds, Int64(StoreLimits.holdSecondsMax) * 1000, Self.mark,
            ]) ?? 0
    }

    /// Ends every hold: what was held is queued.
    /// - Returns: the number of operations that were held.
    @discardableResult
    func end() throws -> Int {
        let held = try transaction.all(
            """
            SELECT \(TableOperation.columns) FROM operations INDEXED BY operations_timed
            JOIN tables ON tables.id = operations.table_id
            WHERE state IN ('waiting', 'unknown') AND successor_of IS NULL AND waits_for IS NULL
              AND state = 'waiting' AND reason LIKE '%' || ?
            """, [Self.mark], TableOperation.init)
        for var operation in held {
            operation.state = .queued
            operation.reason = operation.reason.flatMap(Self.withoutMark)
            operation.nextAttemptAt = nil
            try queue.save(&operation)
            events.emit(.operation, operation)
        }
        return held.count
    }
}

extension Store {
    /// Ends the time in which decisions can be undone before they are sent.
    /// - Returns: the number of operations that were held.
    public func sendDecisions() async throws(StoreError) -> Int {
        try await write { try DecisionHold(transaction: $0).end() }
    }
}
