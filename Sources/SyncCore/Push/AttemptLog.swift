import Storage
public import TablesProtocol

/// One attempt to send an operation.
public struct AttemptRecord: Codable, Sendable, Hashable {
    public var number: Int
    public var startedAt: Instant
    public var endedAt: Instant?
    public var method: String
    public var target: String
    /// The JSON body that was sent; null when none.
    public var requestBody: JSONText?
    /// `Name: value`; the values of secrets are left out.
    public var requestHeaders: [String]
    public var status: Int?
    /// At most 4 KiB; null for a request that ended well, which also keeps no body and header fields.
    public var responseExcerpt: String?
    /// `Name: value`; the values of secrets are left out.
    public var responseHeaders: [String]
    public var outcome: String
    public var error: String?
}

/// A request about to be made, recorded before it is sent.
struct AttemptStart: Sendable {
    var method: String
    /// The request's path and query.
    var target: String
    var body: JSONText?
    /// The request's header fields, see ``RecordedFields``.
    var fields: [String] = []
}

/// How a request ended.
struct AttemptEnd: Sendable {
    var status: Int?
    /// Cut to ``StoreLimits/responseExcerptBytes`` when kept.
    var response: String?
    var error: String?
    /// For a request without an answer: how far it got; ``neverBegun`` if it was not tried.
    var reach: String?
    /// The answer's header fields, see ``RecordedFields``.
    var fields: [String] = []

    /// The ``reach`` of a request that was recorded but not made. `Schema.sql` does not count it as failed.
    static let neverBegun = "neverBegun"
}

/// The requests that were made for operations: `attempts`.
struct AttemptLog: InTransaction {
    let transaction: Transaction

    /// Records that a request is about to be made. Commit before sending the request.
    /// - Returns: the operation as it is sent; nil if another commit changed it meanwhile, so that it must
    ///   not be sent.
    func markSending(
        _ operation: TableOperation, _ attempt: AttemptStart
    ) throws -> TableOperation? {
        switch operation.state {
        // A push tries once more what it was refused.
        case .queued, .waiting, .unknown, .quarantined: break
        case .sending, .conflict, .done, .discarded, .collapsed: return nil
        }
        var current = operation
        current.state = .sending
        current.reason = nil
        current.attempts += 1
        current.firstAttemptAt = current.firstAttemptAt ?? transaction.now
        current.lastAttemptAt = transaction.now
        current.nextAttemptAt = nil
        current.revision += 1
        // One UPDATE both checks that the operation is unchanged and writes only the columns that change.
        // Reading the row again first would cost more than this write.
        try transaction.run(
            """
            UPDATE operations SET state = ?, reason = NULL, revision = ?, attempts = ?,
              first_attempt_at = ?, last_attempt_at = ?, next_attempt_at = NULL, not_before = NULL
            WHERE seq = ? AND revision = ? AND state = ? AND successor_of IS NULL
              AND waits_for IS NULL
            """,
            [
                current.state.rawValue, current.revision, current.attempts,
                current.firstAttemptAt?.milliseconds, transaction.now.milliseconds, current.seq,
                operation.revision, operation.state.rawValue,
            ])
        guard transaction.db.changedRows == 1 else { return nil }
        transaction.effects.madeWork = true
        if current.attempts > 1 { try transaction.ledger.count(["retried"]) }
        try transaction.insert(
            AttemptRow(
                operation: current.seq,
                record: AttemptRecord(
                    number: current.attempts, startedAt: transaction.now, method: attempt.method,
                    target: attempt.target, requestBody: attempt.body,
                    requestHeaders: attempt.fields, responseHeaders: [], outcome: "sending")))
        events.emit(.operation, current)
        return current
    }

    /// Ends the attempt that is in flight. One that ended well keeps no bodies and no header fields: what was
    /// sent is the operation's payload, and what came back is the item.
    func end(
        _ operation: TableOperation, _ attempt: AttemptEnd, _ state: OperationState
    ) throws {
        if state == .done { return try endWell(operation, attempt) }
        try transaction.run(
            """
            UPDATE attempts SET ended_at = ?, status = ?, response_excerpt = ?, outcome = ?,
              error = ?, reach = ?, response_fields = ?
            WHERE operation = ? AND number = ? AND ended_at IS NULL
            """,
            [
                transaction.now.milliseconds, attempt.status, attempt.response.map(Self.excerpt),
                state.rawValue, attempt.error, attempt.reach, JSONList.text(attempt.fields),
                operation.seq, operation.attempts,
            ])
    }

    private func endWell(_ operation: TableOperation, _ attempt: AttemptEnd) throws {
        try transaction.run(
            """
            UPDATE attempts SET ended_at = ?, status = ?, outcome = ?, error = ?, reach = ?,
              request_body = NULL, request_fields = '[]'
            WHERE operation = ? AND number = ? AND ended_at IS NULL
            """,
            [
                transaction.now.milliseconds, attempt.status, OperationState.done.rawValue,
                attempt.error, attempt.reach, operation.seq, operation.attempts,
            ])
    }

    private static func excerpt(_ text: String) -> String {
        String(decoding: text.utf8.prefix(StoreLimits.responseExcerptBytes), as: UTF8.self)
    }

    /// Stores the backend's highest integer id before an insert is first sent.
    func setHighestID(_ id: Int64, of seq: Int64) throws {
        try transaction.run("UPDATE operations SET highest_id = ? WHERE seq = ?", [id, seq])
    }

    /// Marks every operation that is still `sending` as `unknown`. Its request has no verdict and no task
    /// waits for one, after a restart or after its outcome could not be written.
    /// - Parameter live: those that a task sends now (``LiveWrites``).
    func recover(
        because cause: String = "The process ended before the answer came",
        besides live: Set<OperationID> = []
    ) throws {
        let live = JSONList.text(Array(live))
        try transaction.run(
            """
            UPDATE attempts SET ended_at = ?1, outcome = 'unknown', error = ?2 || '.'
            WHERE ended_at IS NULL AND operation NOT IN (
              SELECT seq FROM operations WHERE op_id IN (SELECT value FROM json_each(?3)))
            """, [transaction.now.milliseconds, cause, live])
        try transaction.run(
            """
            UPDATE operations SET state = 'unknown', maybe_applied = 1, may_arrive_late = 1,
              next_attempt_at = ?1, revision = revision + 1,
              reason = ?2 || '; the row will be read back.'
            WHERE state = 'sending' AND op_id NOT IN (SELECT value FROM json_each(?3))
            """, [transaction.now.milliseconds, cause, live])
    }

    /// Whether any operation is marked as sending.
    /// - Parameter live: those that do not count.
    func hasSending(besides live: Set<OperationID> = []) throws -> Bool {
        try transaction.integer(
            """
            SELECT 1 FROM operations WHERE state = 'sending'
              AND op_id NOT IN (SELECT value FROM json_each(?)) LIMIT 1
            """, [JSONList.text(Array(live))]) != nil
    }

    /// Counts an operation's attempts that failed for a reason of its own: an answer came that was not a
    /// verdict, while the link and the backend as a whole worked. A read back whose row was sent next was one.
    func ownFailures(of operation: TableOperation) throws -> Int {
        let count = try transaction.integer(
            """
            SELECT count(*) FROM attempts AS one
            WHERE operation = ? AND outcome IN ('waiting', 'unknown')
              AND status IS NOT NULL AND status <> 401 AND error IS NULL
              AND NOT (method = 'GET' AND status = 200 AND outcome = 'waiting' AND EXISTS (
                SELECT 1 FROM attempts AS next WHERE next.operation = one.operation
                  AND next.number = one.number + 1 AND next.method <> 'GET'))
            """, [operation.seq])
        return Int(count ?? 0)
    }

    /// How the last request of an operation ended that was to change something; nil if none was sent.
    func lastWrite(of operation: TableOperation) throws -> AttemptEnd? {
        try transaction.first(
            """
            SELECT status, response_excerpt, error FROM attempts
            WHERE operation = ? AND method <> 'GET' AND ended_at IS NOT NULL
              AND reach IS NOT 'neverBegun'
            ORDER BY number DESC LIMIT 1
            """, [operation.seq]
        ) { AttemptEnd(status: $0[0], response: $0[1], error: $0[2]) }
    }

    func list(of seq: Int64) throws -> [AttemptRecord] {
        try transaction.all(
            "SELECT \(AttemptRow.stored.names) FROM attempts WHERE operation = ? ORDER BY number",
            [seq], AttemptRow.init
        ).map(\.record)
    }

    func copy(from old: Int64, to new: Int64) throws {
        let copies = try transaction.all(
            "SELECT \(AttemptRow.stored.names) FROM attempts WHERE operation = ?", [old],
            AttemptRow.init)
        for var copy in copies {
            copy.operation = new
            try transaction.insert(copy)
        }
    }
}

/// An attempt as it is stored.
private struct AttemptRow: Stored {
    var operation: Int64
    var record: AttemptRecord
    /// See ``AttemptEnd/reach``.
    var reach: String?

    static let stored = StoredColumns<AttemptRow>(
        "attempts",
        blank: AttemptRow(
            operation: 0,
            record: AttemptRecord(
                number: 0, startedAt: .earliest, method: "", target: "", requestHeaders: [],
                responseHeaders: [], outcome: "")),
        [
            .init("operation", \.operation, .key), .init("number", \.record.number, .key),
            .init("started_at", \.record.startedAt), .init("ended_at", \.record.endedAt),
            .init("method", \.record.method), .init("target", \.record.target),
            .init("request_fields", \.record.requestHeaders),
            .init("request_body", \.record.requestBody), .init("status", \.record.status),
            .init("response_fields", \.record.responseHeaders),
            .init("response_excerpt", \.record.responseExcerpt),
            .init("outcome", \.record.outcome), .init("error", \.record.error),
            .init("reach", \.reach),
        ])
}
