/// The SQL columns that hold an item, as a ``SQLCompiler`` names them.
///
/// `id` TEXT · `columns` TEXT, a JSON object of the user's columns · `created_at` and `stamp`
/// INTEGER, milliseconds since 1970 (`stamp` is shown as `updatedAt`) · `version` TEXT ·
/// `deleted` INTEGER 0 or 1.
public struct ItemSQLSchema: Sendable, Hashable {
    /// The alias of the SQL table; nil for unqualified names.
    public let alias: String?
    /// Whether the table's ids are integers that the backend assigns, which are ordered as numbers.
    public let hasIntegerIDs: Bool

    public init(alias: String? = nil, hasIntegerIDs: Bool = false) {
        self.alias = alias
        self.hasIntegerIDs = hasIntegerIDs
    }
}

/// Compiles expressions to SQL over the columns of ``ItemSQLSchema``.
///
/// The rules follow the SQL databases of the real servers:
/// - Logic has three values. ``NullComparison`` decides comparisons with null; `eq null` and `ne null` test
///   for null. A missing column is null.
/// - A value of another type than the constant is unequal to it, and neither less nor greater. But some
///   clients write 1 and 0 for booleans, which equal the constants `true` and `false`, and a number as a text,
///   which compares with a constant number. Types that are not comparable behave like null.
/// - Texts are compared byte by byte, GUIDs ignoring case, dates as instants, versions as texts.
/// - Lengths and positions of texts count UTF-16 units, from 0.
/// - `div` of two integers is an integer. The parts of a date are those in UTC.
public struct SQLCompiler: Sendable {
    package let schema: ItemSQLSchema
    /// Gives the table's spelling of a column name.
    package let spelling: @Sendable (String) -> String
    package let nulls: NullComparison
    /// Whether null must differ from false: under `not`, and where a boolean is a value.
    var isExact = false

    /// Makes a compiler for one table.
    ///
    /// - Parameters:
    ///   - nulls: the rule for comparisons with null.
    ///   - spelling: gives the table's spelling of a user's column.
    public init(
        _ schema: ItemSQLSchema, nulls: NullComparison = .unknown,
        spelling: @escaping @Sendable (String) -> String = { $0 }
    ) {
        self.schema = schema
        self.nulls = nulls
        self.spelling = spelling
    }

    /// The condition of `$filter`: 1, 0 or null. Its text may be combined with `AND`.
    public func filter(_ expression: Expression) -> SQLFragment {
        condition(expression)
    }

    /// What the text of each row that matches a filter has in it: `name":` and the first character of a boolean or
    /// of a number, for each of the user's columns that must be true or false. To search for that takes half the time
    /// of parsing the row, which it spares most rows that do not match. Nil where the filter has no such condition.
    ///
    /// The rows' columns are as ``Columns/text`` gives them.
    package func textCondition(_ filter: Expression) -> SQLFragment? {
        let patterns = TableQuery.conditions(filter).compactMap { condition in
            condition.truth.flatMap { Self.pattern(name: spelling($0.column), $0.value) }
        }
        if patterns.isEmpty { return nil }
        let columns = sql("columns")
        return .joined(
            patterns.map { columns.infix("GLOB", .bound(.text($0))) }, separator: " AND ")
    }

    /// The pattern of GLOB that finds a name and the beginning of its value; nil for a very long name. A name that a
    /// filter can have has none of GLOB's own characters in it.
    private static func pattern(name: String, _ value: Bool) -> String? {
        guard name.utf8.count <= Limits.searchedNameBytes else { return nil }
        // Without the name's first quote: every name and text begins with one, and the search would stop at each.
        return "*\(JSONText.string(name).text.dropFirst()):[-0-9\(value ? "t" : "f")]*"
    }

    /// The terms of `ORDER BY`. The order is total, because the id is the last term.
    public func ordering(_ terms: [Ordering]) -> SQLFragment {
        var fragments: [SQLFragment] = []
        var endsWithID = false
        for term in terms where !endsWithID {
            // A constant does not order rows, and an integer would refer to a column of the result.
            if case .literal = term.expression { continue }
            if case .column(.id) = term.expression { endsWithID = true }
            // In the column's own unit, so that its index returns the order.
            var fragment = stamp(term.expression) ?? orderKey(term.expression)
            if term.descending { fragment.text += " DESC" }
            fragments.append(fragment)
        }
        if !endsWithID { fragments.append(value(.column(.id))) }
        return .joined(fragments, separator: ", ")
    }

    /// The value to order by: null, then numbers with `true` as 1, then texts. Of a user's column, a text that
    /// is a date counts as that of its instant in UTC, so that dates are in the order in which filters compare
    /// them. The order of all values is total.
    func orderKey(_ expression: Expression) -> SQLFragment {
        guard kind(of: expression) == .json, let place = jsonPlace(expression) else {
            return value(expression)
        }
        return Self.ordered(SQLFragment(place.value))
    }

    /// Most values are no texts that begin with a digit or "/", as dates do (`/Date(0)/` is one), and are
    /// spared the call.
    private static func ordered(_ value: SQLFragment) -> SQLFragment {
        SQLFragment(
            """
            CASE WHEN \(value.text) BETWEEN '/' AND ':' THEN odata_ordered(\(value.text)) \
            ELSE \(value.text) END
            """, value.arguments + value.arguments + value.arguments)
    }

    func condition(_ expression: Expression) -> SQLFragment {
        switch expression {
        case .literal(.boolean(let value)):
            return SQLFragment(value ? "1" : "0")
        case .literal:
            return .null
        case .column:
            // Not a comparison of the client: without a value, neither it nor its negation holds.
            return compared(.equal, expression, .literal(.boolean(true)))
        case .unary(.not, let operand):
            let inner = exact.condition(operand)
            return SQLFragment("(NOT \(inner.text))", inner.arguments)
        case .unary(.negate, _):
            return .null
        case .binary(let operation, let left, let right):
            return comparison(operation, left, right)
        case .logical(let operation, let operands):
            return .chain(operands.map(condition), operation.rawValue.uppercased())
        case .call(let function, let arguments):
            return test(function, arguments)
        case .inList(let value, let literals):
            return membership(value, literals)
        }
    }

    /// The same compiler with ``isExact`` set.
    var exact: SQLCompiler {
        var exact = self
        exact.isExact = true
        return exact
    }

    /// The value to order by, or to test for null.
    func value(_ expression: Expression) -> SQLFragment {
        switch kind(of: expression) {
        case .null: .null
        case .json: json(expression)
        case .boolean: boolean(expression)
        case .number: number(expression)
        case .text, .guid: text(expression)
        case .instant: instant(expression)
        case .time: time(expression)
        }
    }
}

extension SQLCompiler {
    /// The keys of an index, with exactly the text of ``ordering(_:)``: SQLite uses an index on an expression
    /// only for the same expression.
    public func indexKeys(_ shape: IndexShape) -> String { ordering(shape.order).text }

    /// What holds of every row whose column equals a constant, in words of an index's key.
    public func indexCondition(
        _ column: Expression.Column, equals value: Expression.Literal
    ) -> SQLFragment {
        let key = orderKey(.column(column))
        let constants: [SQLFragment]
        switch value {
        case .boolean(let value): constants = [SQLFragment(value ? "1" : "0")]
        case .number(let number):
            // Some clients write a number as a text.
            let text = number.writtenText.map { Self.ordered(.bound(.text($0))) }
            constants = [constant(number)] + [text].compactMap(\.self)
        case .string(let text): constants = [Self.ordered(.bound(.text(text)))]
        case .null, .guid, .binary, .instant, .date, .time:
            return SQLFragment("\(key.text) IS NULL", key.arguments)
        }
        if constants.count == 1 { return key.infix("=", constants[0]) }
        let list = SQLFragment.joined(constants, separator: ", ")
        return key.infix("IN", SQLFragment("(\(list.text))", list.arguments))
    }

    /// The value of a user's column as `eq` compares it, for an index of equal values.
    public func equalKey(_ column: String) -> String { json(.column(.user(path: [column]))).text }
}

extension SQLCompiler {
    /// The static type of an expression.
    package enum Kind {
        /// The constant null.
        case null
        /// A user's column or a value in it: any JSON value.
        case json
        case boolean, number, text, guid, instant, time
    }

    package func kind(of expression: Expression) -> Kind {
        switch expression {
        case .literal(let literal):
            return kind(of: literal)
        case .column(.user):
            return .json
        case .column(.id):
            return schema.hasIntegerIDs ? .number : .text
        case .column(.system(let property)):
            switch property {
            case .createdAt, .updatedAt: return .instant
            case .version: return .text
            case .deleted: return .boolean
            }
        case .unary(.not, _), .logical, .inList:
            return .boolean
        case .unary(.negate, _):
            return .number
        case .binary(let operation, _, _):
            return operation.isArithmetic ? .number : .boolean
        case .call(let function, _):
            return kind(of: function)
        }
    }

    private func kind(of literal: Expression.Literal) -> Kind {
        switch literal {
        case .null: .null
        case .boolean: .boolean
        case .number: .number
        case .string, .binary: .text
        case .guid: .guid
        case .instant, .date: .instant
        case .time: .time
        }
    }

    private func kind(of function: Expression.Function) -> Kind {
        switch function {
        case .startsWith, .endsWith, .contains: .boolean
        case .toLower, .toUpper, .trim, .substring, .concat, .replace: .text
        case .length, .indexOf, .year, .month, .day, .hour, .minute, .second, .round, .floor,
            .ceiling, .count:
            .number
        }
    }
}

extension Expression {
    /// The user's column that must be true or false by the condition; nil for other conditions.
    fileprivate var truth: (column: String, value: Bool)? {
        switch self {
        case .column(.user(let path)) where path.count == 1: (path[0], true)
        case .binary(.equal, .column(.user(let path)), .literal(.boolean(let value))),
            .binary(.equal, .literal(.boolean(let value)), .column(.user(let path))):
            path.count == 1 ? (path[0], value) : nil
        case .literal, .column, .unary, .binary, .logical, .call, .inList: nil
        }
    }
}

extension Expression.BinaryOperator {
    /// Whether the result is a number rather than a boolean.
    package var isArithmetic: Bool {
        switch self {
        case .add, .sub, .mul, .div, .divBy, .mod: true
        case .equal, .notEqual, .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual: false
        }
    }

    /// The operator with its sides swapped.
    package var mirrored: Self {
        switch self {
        case .greaterThan: .lessThan
        case .greaterOrEqual: .lessOrEqual
        case .lessThan: .greaterThan
        case .lessOrEqual: .greaterOrEqual
        case .equal, .notEqual, .add, .sub, .mul, .div, .divBy, .mod: self
        }
    }

    /// The operator in SQL.
    package var sql: String {
        switch self {
        case .equal: "="
        case .notEqual: "<>"
        case .greaterThan: ">"
        case .greaterOrEqual: ">="
        case .lessThan: "<"
        case .lessOrEqual: "<="
        case .add: "+"
        case .sub: "-"
        case .mul: "*"
        case .div, .divBy: "/"
        case .mod: "%"
        }
    }
}
