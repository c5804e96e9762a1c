import Storage
public import TablesProtocol

/// One request made for an operation.
public struct AttemptRecord: Sendable, Hashable {
    /// Counts from 1.
    public var number: Int
    /// When it began.
    public var startedAt: Instant
    /// When its outcome was committed; nil while it is under way or when the process died.
    public var endedAt: Instant?
    /// The request's method.
    public var method: String
    /// The request's path and query.
    public var target: String
    /// The request's body as sent.
    public var requestBody: JSONText?
    /// The request's header fields, `Name: value`, secrets left out.
    public var requestFields: [String]
    /// The status; nil when no answer came.
    public var status: Int?
    /// The beginning of the answer's body, at most ``StoreLimits/responseExcerptBytes``.
    public var responseExcerpt: String?
    /// The answer's header fields, `Name: value`, secrets left out.
    public var responseFields: [String]
    /// The state that the operation got by it.
    public var outcome: String
    /// What went wrong, in plain words.
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
    /// How far a request got that had no answer.
    var reach: String?
    /// The answer's header fields, see ``RecordedFields``.
    var fields: [String] = []
}

/// The requests that were made for operations: `attempts`.
struct AttemptLog {
    let transaction: Transaction
    private var events: EventLog { transaction.events }

    /// Records that a request is about to be made. Commit before sending it.
    /// - Returns: the operation as it is sent; nil when it changed meanwhile and must be left alone.
    func markSending(
        _ operation: TableOperation, _ attempt: AttemptStart
    ) throws -> TableOperation? {
        switch operation.state {
        case .queued, .waiting, .unknown: break
        case .sending, .conflict, .quarantined, .done, .discarded, .collapsed: return nil
        }
        var current = operation
        current.state = .sending
        current.reason = nil
        current.attempts += 1
        current.firstAttemptAt = current.firstAttemptAt ?? transaction.now
        current.lastAttemptAt = transaction.now
        current.nextAttemptAt = nil
        current.revision += 1
        // Only what changes is written, as when it is done, and only where nothing has changed since it
        // was read: to read it again would cost more than to write it.
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
        try transaction.run(
            """
            INSERT INTO attempts(operation, number, started_at, method, target, request_body,
              request_fields)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                current.seq, current.attempts, transaction.now.milliseconds, attempt.method,
                attempt.target,
                attempt.body?.text, JSONList.text(attempt.fields),
            ])
        events.emit(.operation, current)
        return current
    }

    /// Ends the attempt under way.
    func end(
        _ operation: TableOperation, _ attempt: AttemptEnd, _ state: OperationState
    ) throws {
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

    private static func excerpt(_ text: String) -> String {
        String(decoding: text.utf8.prefix(StoreLimits.responseExcerptBytes), as: UTF8.self)
    }

    /// Remembers the backend's highest integer id before an insert is first sent.
    func setHighestID(_ id: Int64, of seq: Int64) throws {
        try transaction.run("UPDATE operations SET highest_id = ? WHERE seq = ?", [id, seq])
    }

    /// What was on its way has no verdict, and no task waits for one any more, so it is not known whether it
    /// arrived: after a restart, or when its outcome could not be written.
    func recover(because cause: String = "The process ended before the answer came") throws {
        try transaction.run(
            """
            UPDATE attempts SET ended_at = ?1, outcome = 'unknown', error = ?2 || '.'
            WHERE ended_at IS NULL
            """, [transaction.now.milliseconds, cause])
        try transaction.run(
            """
            UPDATE operations SET state = 'unknown', maybe_applied = 1, may_arrive_late = 1,
              next_attempt_at = ?1, revision = revision + 1,
              reason = ?2 || '; the row will be read back.'
            WHERE state = 'sending'
            """, [transaction.now.milliseconds, cause])
    }

    /// Whether anything is on its way, or was when its outcome could not be written.
    func hasSending() throws -> Bool {
        try transaction.integer("SELECT 1 FROM operations WHERE state = 'sending' LIMIT 1") != nil
    }

    /// How many of an operation's attempts failed by its own fault: an answer came, was no verdict,
    /// and neither the link nor the backend as a whole was to blame.
    func ownFailures(of operation: TableOperation) throws -> Int {
        let count = try transaction.integer(
            """
            SELECT count(*) FROM attempts
            WHERE operation = ? AND outcome IN ('waiting', 'unknown')
              AND status IS NOT NULL AND status <> 401 AND error IS NULL
              AND NOT (method = 'GET' AND status = 200)
            """, [operation.seq])
        return Int(count ?? 0)
    }

    func list(of seq: Int64) throws -> [AttemptRecord] {
        try transaction.all(
            """
            SELECT number, started_at, ended_at, method, target, request_body, status,
              response_excerpt, request_fields, response_fields, outcome, error
            FROM attempts WHERE operation = ? ORDER BY number
            """, [seq], AttemptRecord.init)
    }

    func copy(from old: Int64, to new: Int64) throws {
        let names = """
            number, started_at, ended_at, method, target, request_body, status, response_excerpt,
            outcome, error, reach, request_fields, response_fields
            """
        try transaction.run(
            """
            INSERT INTO attempts(operation, \(names)) SELECT ?, \(names) FROM attempts
            WHERE operation = ?
            """, [new, old])
    }
}

extension AttemptRecord {
    fileprivate init(_ row: StatementRow) {
        number = row[0]
        startedAt = Instant(milliseconds: row[1])
        endedAt = (row[2] as Int64?).map { Instant(milliseconds: $0) }
        method = row[3]
        target = row[4]
        let body: String? = row[5]
        requestBody = body.flatMap { try? JSONText(validating: $0) }
        status = row[6]
        responseExcerpt = row[7]
        requestFields = JSONList.names(row[8])
        responseFields = JSONList.names(row[9])
        outcome = row[10]
        error = row[11]
    }
}
