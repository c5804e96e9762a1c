import PostgreSQL
import Storage
import TablesProtocol

/// A query on PostgreSQL.
///
/// Where PostgreSQL has not the means for a part of it, the rows that it cannot rule out are copied into
/// a temporary database of SQLite, which has all functions, and are asked there.
struct PostgreSQLList {
    private let query: RowQuery
    private let record: TableRecord
    private let compiler: PostgreSQLCompiler
    /// What rows of the table have to be at least: not deleted, where tombstones are left out.
    private let base: SQLFragment

    init(_ query: RowQuery, _ record: TableRecord) {
        self.query = query
        self.record = record
        let spellings = Dictionary(
            record.table.knownColumns.map { ($0.name.lowercased(), $0.name) },
            uniquingKeysWith: { $1 })
        compiler = PostgreSQLCompiler(
            hasIntegerIDs: record.table.options.idKind == .integer, hasExactStamps: query.isExact,
            nulls: query.nulls, now: query.now, spelling: { spellings[$0.lowercased()] ?? $0 })
        base = SQLFragment(
            "table_key = ?::bigint" + (query.includesDeleted ? "" : " AND NOT deleted"),
            [.integer(record.key)])
    }

    /// The rows after the skipped ones and, where asked for, the number of all.
    func rows(_ connection: PostgreSQLConnection) throws -> RowList {
        guard let condition, let order else { return try rowsFromCopy(connection) }
        let page = SQLFragment(
            """
            SELECT \(PostgreSQLItems.places) FROM items WHERE \(condition.text)
            ORDER BY \(order.text) LIMIT ?::bigint OFFSET ?::bigint
            """,
            condition.arguments + order.arguments
                + [.integer(Int64(query.limit)), .integer(Int64(query.skip))])
        let rows =
            query.limit > 0 ? try connection.run(page).map(PostgreSQLItems.row) : []
        guard query.counts else { return RowList(rows: rows) }
        let counts = try connection.run(
            SQLFragment("SELECT count(*) FROM items WHERE \(condition.text)", condition.arguments))
        return RowList(rows: rows, count: Int(try counts.first?.integer(0) ?? 0))
    }

    /// What the rows of the answer are, in PostgreSQL's words.
    private var condition: SQLFragment? {
        guard let filter = query.filter else { return base }
        return compiler.filter(filter).map { base.and($0) }
    }

    private var order: SQLFragment? {
        query.orderBy.isEmpty && query.lastOrder == .insertion
            ? SQLFragment("position") : compiler.ordering(query.orderBy)
    }

    /// Asks a copy of all rows that may be in the answer.
    private func rowsFromCopy(_ connection: PostgreSQLConnection) throws -> RowList {
        let copy = try ConnectionQueue.temporary(functions: ScalarFunction.ofLists)
        let candidates = query.filter.map { base.and(compiler.necessary($0)) } ?? base
        let select = SQLFragment(
            """
            DECLARE candidates CURSOR FOR SELECT \(PostgreSQLItems.places), position FROM items
            WHERE \(candidates.text)
            """, candidates.arguments)
        try connection.run(select)
        let fetch = "FETCH \(Limits.copiedRows) FROM candidates"
        return try copy.transaction(.immediate) { sqlite in
            try Schema.create(sqlite)
            try Tables.copy(sqlite, record)
            while true {
                let rows = try connection.run(fetch, keep: false)
                if rows.isEmpty { break }
                for row in rows {
                    try Items.copy(
                        sqlite, record, PostgreSQLItems.row(row), position: row.integer(6))
                }
            }
            try connection.run(script: "CLOSE candidates")
            let list = ListSQL(query, record)
            return RowList(
                rows: try list.rows(sqlite), count: query.counts ? try list.count(sqlite) : nil)
        }
    }
}

extension SQLFragment {
    fileprivate func and(_ other: SQLFragment) -> SQLFragment {
        SQLFragment("\(text) AND (\(other.text))", arguments + other.arguments)
    }
}

extension PostgreSQLConnection {
    /// Runs a compiled statement; it is not prepared, since hardly two are alike.
    @discardableResult
    fileprivate func run(_ fragment: SQLFragment) throws -> [PostgreSQLRow] {
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
