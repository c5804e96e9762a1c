import Backend
import PostgreSQL
import Storage
import TablesProtocol

/// A query on PostgreSQL.
///
/// If PostgreSQL cannot evaluate a part of the condition, the rows that it cannot rule out are copied
/// into a temporary database of SQLite, which has all functions, and the list is run there.
struct PostgreSQLList {
    private let query: RowQuery
    private let record: TableRecord
    private let compiler: PostgreSQLCompiler
    /// The condition for rows that the client's condition may look at: within the scope, and not deleted
    /// where tombstones are left out.
    private let base: SQLFragment
    private let scope: SQLFragment?

    init(_ query: RowQuery, _ record: TableRecord) {
        self.query = query
        self.record = record
        let compiler = PostgreSQLCompiler(
            hasIntegerIDs: record.table.options.idKind == .integer, hasExactStamps: query.isExact,
            nulls: query.nulls, spelling: record.table.spellings)
        var base = SQLFragment(
            "table_key = ?::bigint" + (query.includesDeleted ? "" : " AND NOT deleted"),
            [.integer(record.key)])
        // PostgreSQL judges what scopes are: equalities of a column or the id with a constant.
        scope = query.filter?.scope.map { compiler.filter($0) ?? SQLFragment("FALSE") }
        if let scope {
            base = base.and(scope)
            let times = query.isExact ? [] : query.filter?.times ?? []
            for time in times.compactMap({ compiler.filter($0) }) { base = base.and(time) }
        } else if let condition = query.filter?.condition {
            for bound in compiler.bounds(condition, indexes: record.indexes) {
                base = base.and(bound)
            }
        }
        self.base = base
        self.compiler = compiler
    }

    /// The rows after the skipped ones and, where asked for, the number of all.
    /// - Parameter milliseconds: how long its statements may take, all together. The transaction gives this time
    ///   to each statement already.
    /// - Throws: ``TimeIsOver``, or PostgreSQL's error where it ends a statement after that time.
    func rows(_ connection: PostgreSQLConnection, milliseconds: Int) throws -> RowList {
        let end = Uptime.now + .milliseconds(milliseconds)
        guard let condition, let page else { return try rowsFromCopy(connection, until: end) }
        let rows =
            query.limit > 0 ? try connection.run(page).map(PostgreSQLItems.row) : []
        guard query.counts else { return RowList(rows: rows) }
        try Self.endStatements(connection, at: end)
        let counts = try connection.run(
            SQLFragment(
                "SELECT count(*) FROM \(items) WHERE \(condition.text)", condition.arguments))
        return RowList(rows: rows, count: Int(try counts.first?.integer(0) ?? 0))
    }

    /// The statement for the rows of the answer; nil where PostgreSQL cannot judge condition or order.
    var page: SQLFragment? {
        guard let condition, let order else { return nil }
        let columns = PostgreSQLItems.selectedColumns
        let listed = SQLFragment(
            """
            FROM \(items) WHERE \(condition.text) ORDER BY \(order.text) \
            LIMIT ?::bigint OFFSET ?::bigint
            """,
            condition.arguments + order.arguments
                + [.integer(Int64(query.limit)), .integer(Int64(query.skip))])
        guard query.skip > 0 else {
            return SQLFragment("SELECT \(columns) \(listed.text)", listed.arguments)
        }
        // Of what is skipped an index alone gives the ids.
        return SQLFragment(
            """
            SELECT \(columns) FROM \(items) WHERE table_key = ?::bigint \
            AND id IN (SELECT id \(listed.text)) ORDER BY \(order.text)
            """, [.integer(record.key)] + listed.arguments + order.arguments)
    }

    /// The condition for the rows of the answer, in PostgreSQL's SQL; nil where PostgreSQL cannot judge
    /// the client's condition.
    var condition: SQLFragment? {
        guard let condition = query.filter?.condition else { return base }
        return compiler.filter(condition).map { base.and(withinScope($0)) }
    }

    /// A condition that is evaluated for the rows of the scope alone: PostgreSQL promises the order of
    /// `CASE`, and none of what `AND` joins.
    private func withinScope(_ condition: SQLFragment) -> SQLFragment {
        guard let scope else { return condition }
        return SQLFragment(
            "CASE WHEN \(scope.text) IS NOT TRUE THEN FALSE ELSE \(condition.text) END",
            scope.arguments + condition.arguments)
    }

    private var order: SQLFragment? {
        query.orderBy.isEmpty && query.lastOrder == .insertion
            ? SQLFragment("position")
            : compiler.ordering(query.orderBy, indexes: record.indexes)
    }

    private var items: String { PostgreSQLItems.partition(record.key) }

    /// The time of a list is over.
    struct TimeIsOver: Error {}

    /// What ends a list that takes longer than it may.
    static func tookTooLong(_ milliseconds: Int) -> TooMuchWork {
        TooMuchWork(
            """
            This list took longer than \(Double(milliseconds) / 1000) s, and was ended. Ask for less at a time: \
            fewer functions in the filter, or a range of updatedAt. A list in the order of a column may need an \
            index, which the operator names in the settings.
            """,
            retryAfterSeconds: Limits.longListRetrySeconds)
    }

    /// Makes the server end the transaction's statements at a moment.
    /// - Throws: ``TimeIsOver`` where it has come.
    static func endStatements(
        _ connection: PostgreSQLConnection, at end: Duration
    ) throws {
        let left: Double = (end - Uptime.now) / .milliseconds(1)
        guard left >= 1 else { throw TimeIsOver() }
        try connection.run(script: "SET LOCAL statement_timeout = \(Int(left))")
    }

    /// Lists from a copy of all rows that may be in the answer.
    private func rowsFromCopy(
        _ connection: PostgreSQLConnection, until end: Duration
    ) throws -> RowList {
        let copy = try ConnectionQueue.temporary(
            functions: ScalarFunction.ofLists, uptime: { Uptime.now })
        let necessary = query.filter?.condition.map { withinScope(compiler.necessary($0)) }
        let candidates = necessary.map { base.and($0) } ?? base
        let select = SQLFragment(
            """
            DECLARE candidates CURSOR FOR SELECT \(PostgreSQLItems.selectedColumns), position
            FROM \(items) WHERE \(candidates.text)
            """, candidates.arguments)
        try connection.run(select)
        let fetch = "FETCH \(Limits.copiedRows) FROM candidates"
        return try copy.transaction(.immediate) { sqlite in
            try SQLiteSchema.create(sqlite)
            try SQLiteTables.copy(sqlite, record)
            while true {
                try Self.endStatements(connection, at: end)
                let rows = try connection.run(fetch, keep: false)
                if rows.isEmpty { break }
                for row in rows {
                    try SQLiteItems.copy(
                        sqlite, record, PostgreSQLItems.row(row),
                        position: row.integer(PostgreSQLItems.columnCount))
                }
            }
            try connection.run(script: "CLOSE candidates")
            return try ListSQL(query, record).list(sqlite, steps: Backend.Limits.listSteps)
        }
    }
}

extension PostgreSQLConnection {
    /// Runs a compiled statement; it is not prepared, since hardly two are alike.
    @discardableResult
    func run(_ fragment: SQLFragment) throws -> [PostgreSQLRow] {
        let numbered = fragment.numbered()
        return try run(
            numbered.text, numbered.arguments.map(\.inPostgreSQL), keep: false)
    }
}

extension SQLValue {
    fileprivate var inPostgreSQL: PostgreSQLValue {
        switch self {
        case .null: .null
        case .integer(let value): .integer(value)
        case .real(let value): .text("\(value)")
        case .text(let text): .text(text)
        case .blob(let bytes): .text(String(decoding: bytes, as: UTF8.self))
        }
    }
}
