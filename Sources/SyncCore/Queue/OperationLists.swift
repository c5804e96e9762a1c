import Storage
public import TablesProtocol

struct OperationLists: InTransaction {
    let transaction: Transaction

    /// A page of operations: in the order of the queue those after the `seq` `after`, in any order without
    /// the first `skip`.
    func page(
        _ filter: OperationFilter, sorted order: OperationOrder = .queue, after: Int64,
        skip: Int = 0, limit: Int
    ) throws -> Page<TableOperation> {
        if filter.isSearch {
            return try search(filter, sorted: order, after: after, skip: skip, limit: limit)
        }
        let (sql, values) = filter.condition
        // Finds the rows first and fetches only those of the page; skipped rows are not fetched.
        let found: [Int64] = try transaction.column(
            """
            SELECT seq FROM \(filter.source) WHERE seq > ? AND \(sql)
            ORDER BY \(order.sql) LIMIT ? OFFSET ?
            """, [after] + values + [limit + 1, skip], keep: false)
        return try page(found, sorted: order, limit: limit, total: try count(filter))
    }

    /// The same for a text search: one scan gives both the page and the count.
    private func search(
        _ filter: OperationFilter, sorted order: OperationOrder, after: Int64, skip: Int,
        limit: Int
    ) throws -> Page<TableOperation> {
        let all = try numbers(filter, sorted: order)
        let rest = (order == .queue ? all.drop { $0 <= after } : all[...]).dropFirst(skip)
        return try page(
            Array(rest.prefix(limit + 1)), sorted: order, limit: limit, total: all.count)
    }

    /// The `seq` of all operations that match.
    func numbers(_ filter: OperationFilter, sorted order: OperationOrder) throws -> [Int64] {
        let (sql, values) = filter.condition
        return try transaction.column(
            "SELECT seq FROM \(filter.source) WHERE \(sql) ORDER BY \(order.sql)", values,
            keep: false)
    }

    /// The operations with these `seq` values. One more than `limit` means that there is a next page.
    private func page(
        _ found: [Int64], sorted order: OperationOrder, limit: Int, total: Int
    ) throws -> Page<TableOperation> {
        let shown = Array(found.prefix(limit))
        // In another order a `seq` names no position, so such a list is read by `skip`.
        let hasNext = order == .queue && found.count > limit
        return Page(
            items: try operations(shown, sorted: order),
            next: hasNext ? shown.last.map(Cursor.text) : nil, total: total)
    }

    /// The operations with these `seq` values that are still there.
    func operations(
        _ numbers: [Int64], sorted order: OperationOrder
    ) throws -> [TableOperation] {
        let list = numbers.map(String.init).joined(separator: ",")
        return try explained(
            try transaction.all(
                "\(TableOperation.select) WHERE seq IN (\(list)) ORDER BY \(order.sql)",
                keep: false, TableOperation.init))
    }

    /// The operations with what their tables wait for: a queued one has no reason of its own.
    private func explained(_ operations: [TableOperation]) throws -> [TableOperation] {
        guard operations.contains(where: { $0.state == .queued }) else { return operations }
        let waits = try transaction.tableWaits.all(.push)
        let paused = Set(
            try transaction.tables.all().filter { $0.pause.stopsPushes }.map { $0.id })
        if waits.isEmpty, paused.isEmpty { return operations }
        return operations.map { operation in
            guard operation.state == .queued else { return operation }
            var operation = operation
            if paused.contains(operation.tableID) {
                operation.reason = TablePause.reasonOfPush(operation.table)
            } else if let wait = waits[operation.tableID], wait.until > transaction.now {
                operation.reason = wait.reason
                operation.nextAttemptAt = wait.until
            }
            return operation
        }
    }

    /// The number of operations that match, from the counters if the filter allows it.
    private func count(_ filter: OperationFilter) throws -> Int {
        let (sql, values) = filter.condition
        let counting =
            filter.isCounted
            ? "SELECT coalesce(sum(count), 0) FROM state_counts WHERE \(sql)"
            : "SELECT count(*) FROM \(filter.source) WHERE \(sql)"
        let counts: [Int] = try transaction.column(counting, values, keep: false)
        return counts.first ?? 0
    }

    /// When the oldest operation in these states was accepted; nil if there is none.
    func oldest(_ states: Set<OperationState>) throws -> Instant? {
        try page(OperationFilter(states: states), after: 0, limit: 1).items.first?.createdAt
    }

    /// The matching operations that have a reason, counted by state, status and cause, the largest count
    /// first.
    ///
    /// The inner statement gives each reason once for a state and a status; ``Cause`` is asked for these. It
    /// reads only the index, unless the filter has a text, a time, a number of attempts, or items.
    func groups(_ filter: OperationFilter, limit: Int) throws -> Page<OperationGroup> {
        let (sql, values) = filter.condition
        var total = 0
        let groups = try transaction.all(
            """
            SELECT state, status, text, count,
              (SELECT created_at FROM operations WHERE seq = first) AS since, tried, last, total
            FROM (
              SELECT state, status, CASE count(*) WHEN 1 THEN min(reason) ELSE cause END AS text,
                sum(count) AS count, min(first) AS first, min(tried) AS tried, max(last) AS last,
                count(*) OVER () AS total
              FROM (
                SELECT state, reason, last_status AS status, cause_of(reason) AS cause,
                  count(*) AS count, min(seq) AS first, min(first_attempt_at) AS tried,
                  max(last_attempt_at) AS last
                FROM operations INDEXED BY operations_by_reason
                WHERE reason IS NOT NULL AND \(sql) GROUP BY state, reason, last_status
              )
              GROUP BY state, status, cause
              ORDER BY 4 DESC, 5 LIMIT ?
            )
            ORDER BY count DESC, first
            """, values + [limit], keep: false
        ) { row -> OperationGroup? in
            guard let state = OperationState(rawValue: row[0]) else { return nil }
            total = row[7]
            return OperationGroup(
                state: state, status: row[1], reason: row[2], count: row[3],
                since: Instant(milliseconds: row[4]),
                firstTriedAt: (row[5] as Int64?).map(Instant.init(milliseconds:)),
                lastTriedAt: (row[6] as Int64?).map(Instant.init(milliseconds:)))
        }
        return Page(items: groups, next: nil, total: total)
    }

    /// The present states of these operations: how many have the same state, status and cause, the largest number
    /// first.
    func outcomes(of ids: [OperationID]) throws -> [OperationOutcome] {
        try transaction.all(
            """
            SELECT state, last_status,
              CASE min(reason) WHEN max(reason) THEN min(reason) ELSE cause_of(reason) END, count(*)
            FROM operations WHERE op_id IN (SELECT value FROM json_each(?))
            GROUP BY state, last_status, cause_of(reason) ORDER BY 4 DESC, 1
            """, [JSONList.text(ids)]
        ) { row -> OperationOutcome? in
            guard let state = OperationState(rawValue: row[0]) else { return nil }
            return OperationOutcome(state: state, status: row[1], reason: row[2], count: row[3])
        }
    }

    /// A sentence for each of the open operations with the most requests, of those that had more than
    /// ``SyncLimits/attemptsBeforeRefusal``, and one on how many more there are.
    func triedOften() throws -> [String] {
        var count = 0
        let sentences: [String] = try transaction.all(
            """
            SELECT kind, name, item_id, attempts, op_id, reason, count(*) OVER ()
            FROM operations JOIN tables ON tables.id = table_id
            WHERE attempts > \(SyncLimits.attemptsBeforeRefusal) AND closed_at IS NULL
            ORDER BY attempts DESC, seq LIMIT \(StoreLimits.namedInSentence)
            """
        ) { row in
            count = row[6]
            return "The \(row[0] as String) of \(row[1] as String) “\(row[2] as String)” was tried "
                + "\(row[3] as Int) times (operation \(row[4] as String)). \((row[5] as String?) ?? "")"
        }
        let rest = count - sentences.count
        return sentences + (rest > 0 ? ["And \(rest) more were tried so often."] : [])
    }

    func detail(_ operation: TableOperation) throws -> OperationDetail {
        let row = try row(of: operation)
        let server = operation.state.isOpen ? row?.shadow : row?.visible
        return OperationDetail(
            summary: try explained([operation])[0].summary(identity: transaction.identity),
            payload: operation.kind == .delete ? nil : operation.payload,
            base: operation.baseRow, mine: row?.visible, server: server,
            headers: RecordedFields.lines(operation.headers),
            attempts: try attempts.list(of: operation.seq))
    }

    func row(of operation: TableOperation) throws -> ItemRow? {
        guard let table = try tables.table(id: operation.tableID) else { return nil }
        return try items.row(table, exactly: operation.itemID)
    }

    /// The ids and `seq` values of the matching operations before a `seq`, latest first.
    func latest(
        _ filter: OperationFilter, before seq: Int64, limit: Int
    ) throws -> [(id: OperationID, seq: Int64)] {
        let (sql, values) = filter.makeCondition(rowByRow: true)
        return try transaction.all(
            """
            SELECT op_id, seq FROM \(filter.source)
            WHERE seq < ? AND \(sql) ORDER BY seq DESC LIMIT ?
            """, [seq] + values + [limit], keep: false
        ) { ($0[0] as OperationID, $0[1] as Int64) }
    }

    /// The ids of all matching operations, latest first.
    func ids(_ filter: OperationFilter) throws -> [OperationID] {
        let (sql, values) = filter.condition
        return try transaction.column(
            "SELECT op_id FROM operations WHERE \(sql) ORDER BY seq DESC", values, keep: false)
    }
}

/// An operation's id: a UUID as text, also sent as `Idempotency-Key`.
public typealias OperationID = String

/// One operation with its rows and attempts.
public struct OperationDetail: Codable, Sendable, Hashable {
    public var summary: OperationSummary
    public var payload: Columns?
    public var base: Columns?
    public var mine: Columns?
    public var server: Columns?
    /// Header fields of the client that are sent with it (`--forward-header`), each as `Name: value`; of
    /// one that may sign in the name alone.
    public var headers: [String]
    public var attempts: [AttemptRecord]
}

/// How many of some operations are in a state, with the same status and cause.
public struct OperationOutcome: Codable, Sendable, Hashable {
    public var state: OperationState
    /// The status of the last answer; null for no answer.
    public var status: Int?
    /// The cause, or the reason itself if all of them have the same one; null without one.
    public var reason: String?
    public var count: Int
}

/// Operations that are in one state for one cause.
public struct OperationGroup: Codable, Sendable, Hashable {
    public var state: OperationState
    /// The status of their last answer; null when none came.
    public var status: Int?
    /// Their reason. Where reasons differ only in numbers, ids, dates and quoted values, these are `#`,
    /// `<id>`, `<date>` and `“…”`.
    public var reason: String
    public var count: Int
    /// When the oldest was accepted.
    public var since: Instant
    /// When the first attempt for one of them began.
    public var firstTriedAt: Instant?
    /// When the latest attempt for one of them began.
    public var lastTriedAt: Instant?
}
