import GRDB
import TablesProtocol

import struct Foundation.Data

/// A list as SQL.
struct ListSQL {
    private let source: String
    private let condition: SQLFragment
    private let order: SQLFragment
    private let skip: Int

    /// - Parameter isExact: whether `updatedAt` counts to 100 ns, of which the index knows nothing.
    init(
        _ table: TableRecord, _ query: ListQuery, _ profile: Profile, includesDeleted: Bool,
        isExact: Bool, now: Instant
    ) {
        let spellings = Dictionary(
            table.knownColumns.map { ($0.name.lowercased(), $0.name) }, uniquingKeysWith: { $1 })
        let compiler = SQLCompiler(
            ItemSQLSchema(hasIntegerIDs: table.options.idKind == .integer),
            nulls: NullComparison(profile.generation), now: now,
            spelling: { spellings[$0.lowercased()] ?? $0 })
        var condition = SQLFragment("table_key = ?", [.integer(table.key)])
        if !includesDeleted { condition.text += " AND deleted = 0" }
        if let filter = query.filter {
            let fragment = compiler.filter(isExact ? filter.inTicks : filter)
            condition.text += " AND (\(fragment.text))"
            condition.arguments += fragment.arguments
        }
        self.condition = condition
        let terms = query.orderBy.map {
            isExact ? Ordering($0.expression.inTicks, descending: $0.descending) : $0
        }
        // Without an order the Node server gives rows as they were inserted, the others by id.
        order =
            profile.isNode && terms.isEmpty
            ? SQLFragment("position") : compiler.ordering(terms)
        source = isExact ? Self.exactSource : "items"
        skip = query.skip
    }

    /// The items with their exact stamps as one more column of theirs; `plain` are the real ones.
    private static let exactSource = """
        (SELECT position, table_key, id, created_at, created_ticks, stamp, stamp_ticks, revision,
          version, deleted, columns AS plain,
          json_set(columns, '$."\(Expression.exactColumn)"', stamp_ticks) AS columns FROM items)
        """

    /// The rows after the skipped ones.
    func rows(_ database: Database, limit: Int) throws -> [Row] {
        let sql = """
            SELECT * FROM \(source) WHERE \(condition.text) ORDER BY \(order.text) LIMIT ? OFFSET ?
            """
        let arguments =
            condition.arguments + order.arguments
            + [.integer(Int64(limit)), .integer(Int64(skip))]
        return try GRDB.Row.fetchAll(
            database, sql: sql, arguments: StatementArguments(arguments.map(\.bound))
        ).map(Items.row)
    }

    /// How many rows match regardless of skip and limit.
    func count(_ database: Database) throws -> Int {
        try Int.fetchOne(
            database, sql: "SELECT count(*) FROM \(source) WHERE \(condition.text)",
            arguments: StatementArguments(condition.arguments.map(\.bound))) ?? 0
    }
}

extension SQLValue {
    /// The value as GRDB binds it.
    var bound: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let value): value.databaseValue
        case .real(let value): value.databaseValue
        case .text(let value): value.databaseValue
        case .blob(let bytes): Data(bytes).databaseValue
        }
    }
}
