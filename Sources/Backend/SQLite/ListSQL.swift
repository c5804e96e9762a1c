import Storage
import TablesProtocol

/// A query as SQL.
struct ListSQL {
    private let source: String
    private let places: String
    private let condition: SQLFragment
    private let order: SQLFragment
    private let skip: Int
    private let limit: Int

    init(_ query: RowQuery, _ record: TableRecord) {
        let spellings = Dictionary(
            record.table.knownColumns.map { ($0.name.lowercased(), $0.name) },
            uniquingKeysWith: { $1 })
        let compiler = SQLCompiler(
            ItemSQLSchema(hasIntegerIDs: record.table.options.idKind == .integer),
            nulls: query.nulls, now: query.now, spelling: { spellings[$0.lowercased()] ?? $0 })
        // The index knows milliseconds alone.
        let isExact = query.isExact
        var condition = SQLFragment("table_key = ?", [.integer(record.key)])
        if !query.includesDeleted { condition.text += " AND deleted = 0" }
        if let filter = query.filter {
            let fragment = compiler.filter(isExact ? filter.inTicks : filter)
            condition.text += " AND (\(fragment.text))"
            condition.arguments += fragment.arguments
        }
        self.condition = condition
        let terms = query.orderBy.map {
            isExact ? Ordering($0.expression.inTicks, descending: $0.descending) : $0
        }
        order =
            query.lastOrder == .insertion && terms.isEmpty
            ? SQLFragment("position") : compiler.ordering(terms)
        source = isExact ? Self.exactSource : "items"
        places = Items.places(isExact ? "plain" : "columns")
        skip = query.skip
        limit = query.limit
    }

    /// The items with their exact stamps as one more column of theirs; `plain` are the real ones.
    private static let exactSource = """
        (SELECT position, table_key, id, created_at, created_ticks, stamp, stamp_ticks, revision,
          version, deleted, columns AS plain,
          json_set(columns, '$."\(Expression.exactColumn)"', stamp_ticks) AS columns FROM items)
        """

    /// The rows after the skipped ones.
    func rows(_ connection: Connection) throws -> [Row] {
        try connection.all(
            """
            SELECT \(places) FROM \(source) WHERE \(condition.text) ORDER BY \(order.text)
            LIMIT ? OFFSET ?
            """,
            values(condition.arguments + order.arguments) + [limit, skip], keep: false, Items.row)
    }

    /// How many rows match regardless of skip and limit.
    func count(_ connection: Connection) throws -> Int {
        let counts: [Int] = try connection.column(
            "SELECT count(*) FROM \(source) WHERE \(condition.text)",
            values(condition.arguments), keep: false)
        return counts.first ?? 0
    }

    private func values(_ arguments: [SQLValue]) -> StatementValues {
        arguments.map { $0.inSQLite }
    }
}

extension ScalarFunction {
    /// The functions that compiled queries call.
    static let ofLists = SQLFunction.all.map { function in
        ScalarFunction(function.name, argumentCount: function.argumentCount) { values in
            let call = function.call(values.map(SQLValue.init(inSQLite:)))
            return Call(call.value.inSQLite, steps: call.steps)
        }
    }
}

extension SQLValue {
    /// The value as SQLite takes it.
    fileprivate var inSQLite: StoredValue {
        switch self {
        case .null: .null
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        case .text(let value): .text(value)
        case .blob(let bytes): .blob(bytes)
        }
    }

    fileprivate init(inSQLite value: StoredValue) {
        self =
            switch value {
            case .null: .null
            case .integer(let value): .integer(value)
            case .real(let value): .real(value)
            case .text(let value): .text(value)
            case .blob(let bytes): .blob(bytes)
            }
    }
}

extension Expression {
    /// The column that holds the exact stamp of an item; no client's column can have this name.
    fileprivate static let exactColumn = "$updatedAt"

    /// The expression with every comparison of `updatedAt` and a constant as one of exact ticks.
    fileprivate var inTicks: Expression {
        switch self {
        case .column(.system(.updatedAt)): .column(.user(path: [Self.exactColumn]))
        case .binary(let operation, .column(.system(.updatedAt)), .literal(.instant(let literal))):
            .binary(
                operation, .column(.user(path: [Self.exactColumn])),
                .literal(.number(NumberLiteral(literal.instant.ticks))))
        case .binary(let operation, .literal(.instant(let literal)), .column(.system(.updatedAt))):
            .binary(
                operation, .literal(.number(NumberLiteral(literal.instant.ticks))),
                .column(.user(path: [Self.exactColumn])))
        case .unary(let operation, let operand): .unary(operation, operand.inTicks)
        case .logical(let operation, let operands): .logical(operation, operands.map(\.inTicks))
        case .literal, .column, .binary, .call, .inList, .cast, .isOf, .quantified, .variable: self
        }
    }
}
