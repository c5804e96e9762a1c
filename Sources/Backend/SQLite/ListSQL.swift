package import Storage
import TablesProtocol

/// A query as SQL.
package struct ListSQL {
    /// The SQL after `FROM`: the items and their condition.
    let source: SQLFragment
    private let selectedColumns: String
    private let order: SQLFragment
    private let counts: Bool
    private let skip: Int
    private let limit: Int

    package init(_ query: RowQuery, _ record: TableRecord) {
        let compiler = SQLCompiler(
            ItemSQLSchema(hasIntegerIDs: record.table.options.idKind == .integer),
            nulls: query.nulls, spelling: record.table.spellings)
        // The index knows milliseconds alone.
        let isExact = query.isExact
        let scope = query.filter?.scope.map { compiler.filter($0) }
        var base = SQLFragment("table_key = \(record.key)")
        if !query.includesDeleted { base.text += " AND deleted = 0" }
        if let scope {
            base = base.and(OwnerIndexes.scope(record.key)).and(scope)
            let times = isExact ? [] : query.filter?.times ?? []
            for time in times { base = base.and(compiler.filter(time)) }
        }
        let condition = query.filter?.condition.map { condition in
            compiler.filter(isExact ? condition.inTicks : condition)
        }
        source = Self.source(base, condition, scope, isExact: isExact)
        let terms = query.orderBy.map {
            isExact ? Ordering($0.expression.inTicks, descending: $0.descending) : $0
        }
        order =
            query.lastOrder == .insertion && terms.isEmpty
            ? SQLFragment("position") : compiler.ordering(terms)
        selectedColumns = SQLiteItems.selectedColumns(isExact ? "plain" : "columns")
        counts = query.counts
        skip = query.skip
        limit = query.limit
    }

    /// - Parameters:
    ///   - base: what items have to be before the condition.
    ///   - scope: the part of `base` for whose items alone the condition is evaluated.
    private static func source(
        _ base: SQLFragment, _ condition: SQLFragment?, _ scope: SQLFragment?, isExact: Bool
    ) -> SQLFragment {
        guard let condition else {
            return isExact ? exactSource(base) : base.following("items WHERE ")
        }
        guard let scope else {
            return isExact
                ? exactSource(base).joined(" WHERE ", condition)
                : base.and(condition).following("items WHERE ")
        }
        // SQLite promises the order of `CASE`, and none of what `AND` joins. The condition comes last in it
        // and first in the text: so it is no deeper in the stack of SQLite's parser than without a scope.
        let within = SQLFragment(
            "CASE WHEN (\(scope.text)) IS NOT 1 THEN 0 ELSE \(condition.text) END",
            scope.arguments + condition.arguments)
        return isExact
            ? exactSource(base).joined(" WHERE ", within)
            : within.joined(" AND ", base).following("items WHERE ")
    }

    /// The items with their exact stamps as one more column of theirs; `plain` are the real ones.
    private static func exactSource(_ base: SQLFragment) -> SQLFragment {
        SQLFragment(
            """
            (SELECT position, table_key, id, created_at, created_ticks, stamp, stamp_ticks, revision,
              version, deleted, columns AS plain,
              json_set(columns, '$."\(Expression.exactColumn)"', stamp_ticks) AS columns
            FROM items WHERE \(base.text))
            """, base.arguments)
    }

    /// The rows after the skipped ones and, where asked for, the number of all.
    /// - Parameter steps: how many steps of SQLite's machine both may take.
    /// - Throws: ``TooMuchWork``
    package func list(_ connection: Connection, steps: Int) throws -> RowList {
        do {
            return try connection.within(steps: steps, milliseconds: Limits.listMilliseconds) {
                RowList(
                    rows: try rows(connection), count: counts ? try count(connection) : nil)
            }
        } catch {
            if case .interrupted = StorageError(error) { throw TooMuchWork() }
            throw error
        }
    }

    private func rows(_ connection: Connection) throws -> [Row] {
        try connection.all(
            """
            SELECT \(selectedColumns) FROM \(source.text) ORDER BY \(order.text) LIMIT ? OFFSET ?
            """,
            values(source.arguments + order.arguments) + [limit, skip], keep: false, SQLiteItems.row
        )
    }

    private func count(_ connection: Connection) throws -> Int {
        let counts: [Int] = try connection.column(
            "SELECT count(*) FROM \(source.text)", values(source.arguments), keep: false)
        return counts.first ?? 0
    }

    private func values(_ arguments: [SQLValue]) -> StatementValues {
        arguments.map { $0.inSQLite }
    }
}

extension SQLFragment {
    /// Both, and a word between them.
    fileprivate func joined(_ word: String, _ other: SQLFragment) -> SQLFragment {
        SQLFragment(text + word + other.text, arguments + other.arguments)
    }

    /// The fragment after a text.
    fileprivate func following(_ start: String) -> SQLFragment {
        SQLFragment(start + text, arguments)
    }
}

extension ScalarFunction {
    /// The functions that compiled queries call.
    package static let ofLists = SQLFunction.all.map { function in
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
        case .literal, .column, .binary, .call, .inList: self
        }
    }
}
