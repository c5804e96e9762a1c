import GRDB
import TablesProtocol

extension Transaction {
    /// A page of operations in the order in which they are sent.
    func operations(
        _ filter: OperationFilter, after: Int64, limit: Int
    ) throws -> Page<TableOperation> {
        let (sql, arguments) = filter.condition
        // Several states at once come in order from the table itself; from the index by state a
        // long queue would be sorted for every page.
        let source = (filter.states?.count ?? 2) > 1 ? "operations NOT INDEXED" : "operations"
        let found = try all(
            """
            SELECT \(TableOperation.columns) FROM \(source)
            JOIN tables ON tables.id = operations.table_id
            WHERE seq > ? AND \(sql) ORDER BY seq LIMIT ?
            """, [after] + arguments + [limit + 1]
        ).compactMap(TableOperation.init)
        let items = Array(found.prefix(limit))
        return Page(
            items: items, next: found.count > limit ? items.last.map { Cursor.text($0.seq) } : nil,
            total: try count(filter))
    }

    /// How many operations match; from the counters where the filter allows it.
    private func count(_ filter: OperationFilter) throws -> Int {
        let (sql, arguments) = filter.condition
        if filter.isCounted {
            return try Int.fetchOne(
                db, sql: "SELECT coalesce(sum(count), 0) FROM state_counts WHERE \(sql)",
                arguments: arguments) ?? 0
        }
        return try Int.fetchOne(
            db, sql: "SELECT count(*) FROM operations WHERE \(sql)", arguments: arguments) ?? 0
    }

    /// The operations that match, counted by state and reason, the most first.
    func operationGroups(_ filter: OperationFilter, limit: Int) throws -> [OperationGroup] {
        let (sql, arguments) = filter.condition
        return try all(
            """
            SELECT state, reason, count(*) AS count, min(created_at) AS since FROM operations
            WHERE \(sql) GROUP BY state, reason ORDER BY count(*) DESC, min(seq) LIMIT ?
            """, arguments + [limit]
        ).compactMap { row in
            guard let state = OperationState(rawValue: row["state"]) else { return nil }
            return OperationGroup(
                state: state, reason: row["reason"], count: row["count"],
                since: Instant(milliseconds: row["since"]))
        }
    }

    /// One operation with everything known of it.
    func detail(_ operation: TableOperation) throws -> OperationDetail {
        let row = try row(of: operation)
        let server = operation.state.isOpen ? row?.shadow : row?.visible
        return OperationDetail(
            summary: operation.summary(identity: identity), payload: operation.payload?.json,
            base: operation.baseRow?.json, mine: row?.visible?.json, server: server?.json,
            attemptLog: try attempts(of: operation.seq))
    }

    /// The row that an operation is about.
    func row(of operation: TableOperation) throws -> ItemRow? {
        guard let table = try table(id: operation.tableID) else { return nil }
        return try row(table, exactly: operation.itemID)
    }

    private func attempts(of seq: Int64) throws -> [AttemptRecord] {
        try all("SELECT * FROM attempts WHERE operation = ? ORDER BY number", [seq])
            .map(AttemptRecord.init)
    }
}

extension AttemptRecord {
    init(_ row: Row) {
        number = row["number"]
        startedAt = Instant(milliseconds: row["started_at"])
        endedAt = (row["ended_at"] as Int64?).map { Instant(milliseconds: $0) }
        method = row["method"]
        target = row["target"]
        let body: String? = row["request_body"]
        requestBody = body.flatMap { try? JSONText(validating: $0) }
        status = row["status"]
        responseExcerpt = row["response_excerpt"]
        outcome = row["outcome"]
        error = row["error"]
    }
}

extension Columns {
    /// The object as one JSON value.
    var json: JSONText { (try? JSONText(validating: text)) ?? .null }
}
