/// The SQL columns that hold an item, as a ``SQLCompiler`` names them.
///
/// `id` TEXT · `columns` TEXT, a JSON object of the user's columns · `created_at` and `stamp`
/// INTEGER, milliseconds since 1970 (`stamp` is shown as `updatedAt`) · `version` TEXT ·
/// `deleted` INTEGER 0 or 1.
public struct ItemSQLSchema: Sendable, Hashable {
    /// The alias of the SQL table, or nil for bare names.
    public let alias: String?
    /// Whether the table's ids are integers that the backend assigns, ordered as numbers.
    public let hasIntegerIDs: Bool

    /// The columns of one SQL table.
    public init(alias: String? = nil, hasIntegerIDs: Bool = false) {
        self.alias = alias
        self.hasIntegerIDs = hasIntegerIDs
    }
}

/// Compiles expressions to SQL over the columns of ``ItemSQLSchema``.
///
/// The rules, after the SQL databases behind the real servers:
/// - Logic has three values. What a comparison with a null operand is ``NullComparison`` says; `eq null`
///   and `ne null` test for null. A missing column is null.
/// - A row's value of another type than the constant is unequal to it and neither less nor greater.
///   `true` is not 1. Types that do not meet compare as null does.
/// - Texts are compared byte by byte, GUIDs in any case, dates as instants, versions as texts.
/// - Lengths and positions of texts count UTF-16 units, from 0.
/// - `div` of two whole numbers is whole; dates have the parts that they have in UTC.
/// - What is no array, a missing column too, is a collection without elements.
public struct SQLCompiler: Sendable {
    let schema: ItemSQLSchema
    /// The spelling under which a table keeps a column that a query names.
    let spelling: @Sendable (String) -> String
    let nulls: NullComparison
    /// The instant that `now()` is; nil where there is none, and then `now()` is null.
    let now: Instant?
    /// Where the elements are that the lambdas around an expression look at.
    var variables: [String: Element] = [:]
    /// Whether null has to be told from false: under `not`, and where a truth is a value.
    var isExact = false

    /// A compiler for one table.
    ///
    /// - Parameters:
    ///   - nulls: what comparisons with null are to the client that asks.
    ///   - now: the instant that `now()` is.
    ///   - spelling: turns the name of a user's column into the one that the rows have.
    public init(
        _ schema: ItemSQLSchema, nulls: NullComparison = .unknown, now: Instant? = nil,
        spelling: @escaping @Sendable (String) -> String = { $0 }
    ) {
        self.schema = schema
        self.nulls = nulls
        self.now = now
        self.spelling = spelling
    }

    /// The condition that `$filter` stands for: 1, 0 or null. Its text may stand beside `AND`.
    public func filter(_ expression: Expression) -> SQLFragment {
        condition(expression)
    }

    /// The terms of `ORDER BY`, always total: the id is the last one.
    public func ordering(_ terms: [Ordering]) -> SQLFragment {
        var fragments: [SQLFragment] = []
        var endsWithID = false
        for term in terms where !endsWithID {
            // A constant orders nothing, and a bare number would name a column of the result.
            if case .literal = term.expression { continue }
            if case .column(.id) = term.expression { endsWithID = true }
            // Dates of the system in the column's own unit, so that its index gives the order.
            var fragment = stamp(term.expression) ?? value(term.expression)
            if term.descending { fragment.text += " DESC" }
            fragments.append(fragment)
        }
        if !endsWithID { fragments.append(value(.column(.id))) }
        return .joined(fragments, separator: ", ")
    }

    /// An expression as a condition.
    func condition(_ expression: Expression) -> SQLFragment {
        switch expression {
        case .literal(.boolean(let value)):
            return SQLFragment(value ? "1" : "0")
        case .literal:
            return .null
        case .column, .variable:
            // No comparison to the client: without a value neither it nor its opposite holds.
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
        case .cast(_, let type):
            return kind(of: type) == .boolean ? truth(expression) : .null
        case .isOf(let value, let type):
            return typeTest(value, type)
        case .quantified(let quantifier, let collection, let lambda):
            return quantified(quantifier, collection, lambda)
        }
    }

    /// The same compiler where null has to be told from false.
    var exact: SQLCompiler {
        var exact = self
        exact.isExact = true
        return exact
    }

    /// What to order by, or to test for null.
    func value(_ expression: Expression) -> SQLFragment {
        switch kind(of: expression) {
        case .null: .null
        case .json: json(expression)
        case .boolean: truth(expression)
        case .number: number(expression)
        case .text, .guid: text(expression)
        case .instant: instant(expression)
        case .time: time(expression)
        case .duration: duration(expression)
        case .place: place(expression)
        }
    }
}

extension SQLCompiler {
    /// The keys of an index of some shape, word for word as ``filter(_:)`` and ``ordering(_:)`` write
    /// them: SQLite uses an index on an expression only where it finds the same expression.
    public func indexKeys(_ shape: IndexShape) -> String {
        let held = shape.equalities.map { json(.column($0)) }
        return (held + [ordering(shape.order)]).map(\.text).joined(separator: ", ")
    }
}
