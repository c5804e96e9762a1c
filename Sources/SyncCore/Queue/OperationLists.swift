import Storage
import TablesProtocol

/// The operator's lists of operations.
struct OperationLists {
    let transaction: Transaction
    private var attempts: AttemptLog { transaction.attempts }
    private var items: ItemTable { transaction.items }
    private var tables: TableRecords { transaction.tables }

    /// A page of operations in the order of the queue: after the `seq` `after`, without the first `skip`.
    func page(
        _ filter: OperationFilter, after: Int64, skip: Int = 0, limit: Int
    ) throws -> Page<TableOperation> {
        if filter.isSearch { return try search(filter, after: after, skip: skip, limit: limit) }
        let (sql, values) = filter.condition
        // Finds the rows first and fetches only those of the page; skipped rows are not fetched.
        let found: [Int64] = try transaction.column(
            """
            SELECT seq FROM \(filter.source) WHERE seq > ? AND \(sql)
            ORDER BY seq LIMIT ? OFFSET ?
            """, [after] + values + [limit + 1, skip], keep: false)
        return try page(found, limit: limit, total: try count(filter))
    }

    /// The same for a text search: one scan gives both the page and the count.
    private func search(
        _ filter: OperationFilter, after: Int64, skip: Int, limit: Int
    ) throws -> Page<TableOperation> {
        let (sql, values) = filter.condition
        let all: [Int64] = try transaction.column(
            "SELECT seq FROM \(filter.source) WHERE \(sql) ORDER BY seq", values, keep: false)
        let rest = all.drop { $0 <= after }.dropFirst(skip)
        return try page(Array(rest.prefix(limit + 1)), limit: limit, total: all.count)
    }

    /// The operations with these `seq` values. One more than `limit` means that there is a next page.
    private func page(
        _ found: [Int64], limit: Int, total: Int
    ) throws -> Page<TableOperation> {
        let shown = found.prefix(limit)
        let list = shown.map(String.init).joined(separator: ",")
        let items = try transaction.all(
            "\(TableOperation.select) WHERE seq IN (\(list)) ORDER BY seq", keep: false,
            TableOperation.init)
        return Page(
            items: items, next: found.count > limit ? shown.last.map(Cursor.text) : nil,
            total: total)
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

    /// The matching operations that have a reason, counted by state and reason, the largest count first.
    func groups(_ filter: OperationFilter, limit: Int) throws -> [OperationGroup] {
        let (sql, values) = filter.condition
        return try transaction.all(
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

    /// One operation with its rows and attempts.
    func detail(_ operation: TableOperation) throws -> OperationDetail {
        let row = try row(of: operation)
        let server = operation.state.isOpen ? row?.shadow : row?.visible
        return OperationDetail(
            summary: operation.summary(identity: transaction.identity),
            payload: operation.payload?.json,
            base: operation.baseRow?.json, mine: row?.visible?.json, server: server?.json,
            headers: RecordedFields.lines(operation.headers),
            attemptLog: try attempts.list(of: operation.seq))
    }

    /// The row of an operation's item.
    func row(of operation: TableOperation) throws -> ItemRow? {
        guard let table = try tables.table(id: operation.tableID) else { return nil }
        return try items.row(table, exactly: operation.itemID)
    }

    /// The ids and `seq` values of the matching operations before a `seq`, latest first.
    func latest(
        _ filter: OperationFilter, before seq: Int64, limit: Int
    ) throws -> [(id: OperationID, seq: Int64)] {
        let (sql, values) = filter.condition
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
