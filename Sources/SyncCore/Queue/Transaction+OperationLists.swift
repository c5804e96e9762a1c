import Storage
import TablesProtocol

extension Transaction {
    /// A page of operations in the order in which they are sent, after a place in the order and
    /// after the first `skip` from there.
    func operations(
        _ filter: OperationFilter, after: Int64, skip: Int = 0, limit: Int
    ) throws -> Page<TableOperation> {
        if filter.isSearch { return try search(filter, after: after, skip: skip, limit: limit) }
        let (sql, values) = filter.condition
        // The rows are found first and fetched afterwards: those that are skipped stay unread.
        let found: [Int64] = try column(
            """
            SELECT seq FROM \(filter.source) WHERE seq > ? AND \(sql)
            ORDER BY seq LIMIT ? OFFSET ?
            """, [after] + values + [limit + 1, skip], keep: false)
        return try page(found, limit: limit, total: try count(filter))
    }

    /// The same for a text: everything is looked through once, for the page and for the count.
    private func search(
        _ filter: OperationFilter, after: Int64, skip: Int, limit: Int
    ) throws -> Page<TableOperation> {
        let (sql, values) = filter.condition
        let all: [Int64] = try column(
            "SELECT seq FROM \(filter.source) WHERE \(sql) ORDER BY seq", values, keep: false)
        let rest = all.drop { $0 <= after }.dropFirst(skip)
        return try page(Array(rest.prefix(limit + 1)), limit: limit, total: all.count)
    }

    /// The operations at these places in the order; one more than `limit` says that more follow.
    private func page(
        _ found: [Int64], limit: Int, total: Int
    ) throws -> Page<TableOperation> {
        let shown = found.prefix(limit)
        let list = shown.map(String.init).joined(separator: ",")
        let items = try all(
            "\(TableOperation.select) WHERE seq IN (\(list)) ORDER BY seq", keep: false,
            TableOperation.init)
        return Page(
            items: items, next: found.count > limit ? shown.last.map(Cursor.text) : nil,
            total: total)
    }

    /// How many operations match; from the counters where the filter allows it.
    private func count(_ filter: OperationFilter) throws -> Int {
        let (sql, values) = filter.condition
        let counting =
            filter.isCounted
            ? "SELECT coalesce(sum(count), 0) FROM state_counts WHERE \(sql)"
            : "SELECT count(*) FROM \(filter.source) WHERE \(sql)"
        let counts: [Int] = try column(counting, values, keep: false)
        return counts.first ?? 0
    }

    /// The operations that match and have a reason, counted by state and reason, the most first.
    func operationGroups(_ filter: OperationFilter, limit: Int) throws -> [OperationGroup] {
        let (sql, values) = filter.condition
        return try all(
            """
            SELECT state, reason, count,
              (SELECT created_at FROM operations WHERE seq = first) AS since
            FROM (
              SELECT state, reason, count(*) AS count, min(seq) AS first
              FROM operations INDEXED BY operations_by_reason
              WHERE reason IS NOT NULL AND \(sql) GROUP BY state, reason
              ORDER BY count DESC, first LIMIT ?
            )
            """, values + [limit], keep: false
        ) { row in
            guard let state = OperationState(rawValue: row[0]) else { return nil }
            return OperationGroup(
                state: state, reason: row[1], count: row[2], since: Instant(milliseconds: row[3]))
        }
    }

    /// One operation with everything known of it.
    func detail(_ operation: TableOperation) throws -> OperationDetail {
        let row = try row(of: operation)
        let server = operation.state.isOpen ? row?.shadow : row?.visible
        return OperationDetail(
            summary: operation.summary(identity: identity), payload: operation.payload?.json,
            base: operation.baseRow?.json, mine: row?.visible?.json, server: server?.json,
            headers: RecordedFields.lines(operation.headers),
            attemptLog: try attempts(of: operation.seq))
    }

    /// The row that an operation is about.
    func row(of operation: TableOperation) throws -> ItemRow? {
        guard let table = try table(id: operation.tableID) else { return nil }
        return try row(table, exactly: operation.itemID)
    }

    private func attempts(of seq: Int64) throws -> [AttemptRecord] {
        try all(
            """
            SELECT number, started_at, ended_at, method, target, request_body, status,
              response_excerpt, request_fields, response_fields, outcome, error
            FROM attempts WHERE operation = ? ORDER BY number
            """, [seq], AttemptRecord.init)
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

extension Columns {
    /// The object as one JSON value.
    var json: JSONText { (try? JSONText(validating: text)) ?? .null }
}
