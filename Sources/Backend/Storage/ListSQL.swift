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

extension SQLFunction {
    /// The function as GRDB registers it.
    var registered: DatabaseFunction {
        DatabaseFunction(name, argumentCount: argumentCount, pure: true) { arguments in
            call(arguments.map(SQLValue.init)).value.bound
        }
    }
}

extension SQLValue {
    /// The value of a database value.
    init(_ value: DatabaseValue) {
        self =
            switch value.storage {
            case .null: .null
            case .int64(let value): .integer(value)
            case .double(let value): .real(value)
            case .string(let value): .text(value)
            case .blob(let value): .blob(Array(value))
            }
    }
}

extension Expression {
    /// The column that holds the exact stamp of an item; no client's column can have this name.
    static let exactColumn = "$updatedAt"

    /// Calls `visit` with each column in the expression.
    func eachColumn(_ visit: (Column) -> Void) {
        switch self {
        case .literal, .variable: break
        case .column(let column): visit(column)
        case .unary(_, let operand), .inList(let operand, _), .cast(let operand, _),
            .isOf(let operand, _):
            operand.eachColumn(visit)
        case .quantified(_, let collection, let lambda):
            collection.eachColumn(visit)
            lambda?.condition.eachColumn(visit)
        case .binary(_, let left, let right):
            left.eachColumn(visit)
            right.eachColumn(visit)
        case .logical(_, let operands), .call(_, let operands):
            for operand in operands { operand.eachColumn(visit) }
        }
    }

    /// The expression with every comparison of `updatedAt` and a constant as one of exact ticks.
    var inTicks: Expression {
        switch self {
        case .column(.system(.updatedAt)): .column(.user(path: [Self.exactColumn]))
        case .binary(let operation, .column(.system(.updatedAt)), .literal(.instant(let literal))):
            .binary(
                operation, .column(.user(path: [Self.exactColumn])),
                .literal(.number(NumberLiteral(literal.instant.ticks))))
        case .unary(let operation, let operand): .unary(operation, operand.inTicks)
        case .logical(let operation, let operands): .logical(operation, operands.map(\.inTicks))
        case .literal, .column, .binary, .call, .inList, .cast, .isOf, .quantified, .variable: self
        }
    }
}
