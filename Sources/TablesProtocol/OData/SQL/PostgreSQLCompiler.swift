/// Compiles expressions to PostgreSQL over the columns of a row: the same rows in the same order as what
/// ``SQLCompiler`` gives on SQLite.
///
/// `id` text COLLATE "C" · `content` jsonb and `moments` jsonb, both as ``PostgreSQLContent`` makes
/// them · `created_at` and `stamp` bigint, milliseconds since 1970, `stamp_ticks` beside them ·
/// `version` text · `deleted` boolean.
///
/// PostgreSQL has not every function of SQLite's connection, which are written in Swift. Where an
/// expression needs one, there is no fragment, and the rows that ``necessary(_:)`` leaves have to be
/// looked at elsewhere. No text from outside is in the SQL: names too are bound values.
public struct PostgreSQLCompiler: Sendable {
    /// What PostgreSQL has no means for.
    struct Beyond: Error {}

    /// What is known of types and constants, which is the same in both dialects.
    let types: SQLCompiler
    /// Whether `updatedAt` is compared to 100 ns.
    let hasExactStamps: Bool
    /// The SQL of the elements that the lambdas around an expression look at.
    var variables: [String: String] = [:]
    /// Whether null has to be told from false.
    var isExact = false

    /// A compiler for one table; the parameters are those of ``SQLCompiler``.
    ///
    /// - Parameter hasExactStamps: whether `updatedAt` is compared to 100 ns rather than milliseconds.
    public init(
        hasIntegerIDs: Bool = false, hasExactStamps: Bool = false,
        nulls: NullComparison = .unknown, now: Instant? = nil,
        spelling: @escaping @Sendable (String) -> String = { $0 }
    ) {
        types = SQLCompiler(
            ItemSQLSchema(hasIntegerIDs: hasIntegerIDs), nulls: nulls, now: now, spelling: spelling)
        self.hasExactStamps = hasExactStamps
    }

    /// The condition that `$filter` stands for: true, false or null; nil where PostgreSQL cannot judge.
    public func filter(_ expression: Expression) -> SQLFragment? { try? condition(expression) }

    /// A condition that holds for every row for which the expression holds, and for others too where
    /// PostgreSQL cannot judge parts of it.
    public func necessary(_ expression: Expression) -> SQLFragment {
        if let fragment = filter(expression) { return fragment }
        guard case .logical(.and, let operands) = expression else { return SQLFragment("TRUE") }
        let judged = operands.compactMap { filter($0) }
        return judged.isEmpty ? SQLFragment("TRUE") : .chain(judged, "AND")
    }

    /// The terms of `ORDER BY`, always total: the id is the last one. Nil where PostgreSQL cannot judge.
    /// - Parameter indexes: those by one column that the table has.
    public func ordering(_ terms: [Ordering], indexes: [IndexShape] = []) -> SQLFragment? {
        if !indexes.isEmpty, let term = column(of: terms),
            indexes.contains(where: { $0.order.first?.expression == term.expression }),
            let order = try? indexedOrder(term)
        {
            return .joined(order.keys + order.rest, separator: ", ")
        }
        var fragments: [SQLFragment] = []
        do throws(Beyond) {
            for term in terms {
                if case .literal = term.expression { continue }
                // Null comes first, as it does in SQLite. Of what is never null the order is left as
                // indexes have it.
                let nulls = term.descending ? " NULLS LAST" : " NULLS FIRST"
                let direction =
                    (term.descending ? " DESC" : " ASC")
                    + (isNeverNull(term.expression) ? "" : nulls)
                for var fragment in try orderValues(term.expression) {
                    fragment.text += direction
                    fragments.append(fragment)
                }
                if case .column(.id) = term.expression {
                    return .joined(fragments, separator: ", ")
                }
            }
            fragments.append(try value(.column(.id)))
        } catch {
            return nil
        }
        return .joined(fragments, separator: ", ")
    }

    private func isNeverNull(_ expression: Expression) -> Bool {
        switch expression {
        case .column(.id), .column(.system): true
        case .column, .literal, .unary, .binary, .logical, .call, .inList, .cast, .isOf,
            .quantified, .variable:
            false
        }
    }

    /// The same compiler where null has to be told from false.
    var exact: PostgreSQLCompiler {
        var exact = self
        exact.isExact = true
        return exact
    }

    func condition(_ expression: Expression) throws(Beyond) -> SQLFragment {
        switch expression {
        case .literal(.boolean(let value)):
            return SQLFragment(value ? "TRUE" : "FALSE")
        case .literal, .unary(.negate, _):
            return Self.noTruth
        case .column, .variable:
            return try compared(.equal, expression, .literal(.boolean(true)))
        case .unary(.not, let operand):
            let inner = try exact.condition(operand)
            return SQLFragment("(NOT \(inner.text))", inner.arguments)
        case .binary(let operation, let left, let right):
            return try comparison(operation, left, right)
        case .logical(let operation, let operands):
            var fragments: [SQLFragment] = []
            for operand in operands { fragments.append(try condition(operand)) }
            return .chain(fragments, operation.rawValue.uppercased())
        case .call(let function, let arguments):
            return try test(function, arguments)
        case .inList(let value, let literals):
            let found = try membership(value, literals)
            return types.nulls == .decided && isExact ? found.suffixed("IS TRUE") : found
        case .quantified(let quantifier, let collection, let lambda):
            return try quantified(quantifier, collection, lambda)
        case .cast, .isOf:
            throw Beyond()
        }
    }

    /// `any` and `all` over an array. What is no array has no elements.
    private func quantified(
        _ quantifier: Expression.Quantifier, _ collection: Expression,
        _ lambda: Expression.Lambda?
    ) throws(Beyond) -> SQLFragment {
        guard let array = json(collection) else {
            return SQLFragment(quantifier == .all ? "TRUE" : "FALSE")
        }
        let alias = "each\(variables.count + 1)"
        let rows = SQLFragment(
            """
            jsonb_array_elements(CASE WHEN jsonb_typeof(\(array.text)) = 'array' \
            THEN \(array.text) ELSE '[]'::jsonb END) AS \(alias)(value)
            """, array.arguments + array.arguments)
        guard let lambda else {
            return SQLFragment("EXISTS (SELECT 1 FROM \(rows.text))", rows.arguments)
        }
        var inner = exact
        inner.variables[lambda.variable] = "\(alias).value"
        let condition = try inner.condition(lambda.condition)
        let arguments = rows.arguments + condition.arguments
        switch quantifier {
        case .any:
            return SQLFragment(
                "EXISTS (SELECT 1 FROM \(rows.text) WHERE \(condition.text))", arguments)
        case .all:
            return SQLFragment(
                "(NOT EXISTS (SELECT 1 FROM \(rows.text) WHERE (\(condition.text)) IS NOT TRUE))",
                arguments)
        }
    }

    static let noTruth = SQLFragment("NULL::boolean")
}

// Indexes of one column, for lists in its order.
extension PostgreSQLCompiler {
    /// The keys of an index, as SQL for `CREATE INDEX`; nil for one of several columns.
    ///
    /// A list of an indexed column is ordered by these keys and then by the whole text and the id, so PostgreSQL
    /// sorts only rows whose keys are equal. The last key is the id, except of a row with a longer text than its
    /// key: a row that is too long for an index would be refused.
    public func indexKeys(_ shape: IndexShape) -> String? {
        guard shape.equalities.isEmpty, let term = column(of: shape.order) else { return nil }
        return (try? indexedOrder(term))
            .map { SQLFragment.joined($0.keys, separator: ", ").withoutArguments }
    }

    /// What holds for each row for which a filter holds, in words of the keys: of bounds of indexed columns. So an
    /// index serves them, and the planner knows how many rows there are.
    public func bounds(_ filter: Expression, indexes: [IndexShape]) -> [SQLFragment] {
        if indexes.isEmpty { return [] }
        return TableQuery.conditions(filter).compactMap { bound($0, indexes) }
    }

    private func bound(_ condition: Expression, _ indexes: [IndexShape]) -> SQLFragment? {
        guard case .binary(var operation, var left, var right) = condition else { return nil }
        if case .literal = left { (operation, left, right) = (operation.mirrored, right, left) }
        let word: String
        switch operation {
        case .greaterThan, .greaterOrEqual: word = ">="
        case .lessThan, .lessOrEqual: word = "<="
        case .equal, .notEqual, .add, .sub, .mul, .div, .divBy, .mod, .has: return nil
        }
        guard let term = column(of: [Ordering(left)]),
            indexes.contains(where: { $0.order.first?.expression == term.expression }),
            let json = json(left), let text = try? indexedText(left, json),
            case .literal(let literal) = right
        else { return nil }
        let key = Self.textKey(text)
        switch literal {
        case .number:
            guard let number = try? number(right) else { return nil }
            // A text may count as a number.
            let isNumber = key.suffixed("IS NULL")
                .infix("AND", Self.orderNumber(json).infix(word, number))
            return key.suffixed("IS NOT NULL").infix("OR", isNumber)
        case .instant(let bound): return key.infix(word, Self.bound(bound.instant.sortedText))
        case .null, .boolean, .string, .guid, .binary, .date, .time, .duration, .geo: return nil
        }
    }

    /// The one column of the user that comes before the id in an order, in the table's spelling; nil for any other
    /// order.
    private func column(of terms: [Ordering]) -> Ordering? {
        let shape = TableQuery(orderBy: terms).indexShape(spelling: types.spelling)
        return shape.flatMap { $0.order.count == 1 ? $0.order.first : nil }
    }

    /// The terms of an order that an index has, and those after them.
    private func indexedOrder(
        _ term: Ordering
    ) throws(Beyond) -> (keys: [SQLFragment], rest: [SQLFragment]) {
        guard let json = json(term.expression) else { throw Beyond() }
        let direction = term.descending ? "DESC NULLS LAST" : "ASC NULLS FIRST"
        let text = try indexedText(term.expression, json)
        let number = Self.orderNumber(json)
        let id = try value(.column(.id))
        // Longer texts come after the one that they begin with.
        let idOfShort = SQLFragment(
            """
            (CASE WHEN char_length(\(text.text)) > \(Limits.indexedCharacters) THEN NULL \
            ELSE \(id.text) END)
            """,
            text.arguments + id.arguments)
        return (
            [
                Self.textKey(text).followed(by: direction),
                SQLFragment("(\(number.text)) \(direction)", number.arguments),
                idOfShort.followed(by: "ASC NULLS \(term.descending ? "FIRST" : "LAST")"),
            ], [text.suffixed("COLLATE \"C\"").followed(by: direction), id]
        )
    }

    private static func textKey(_ text: SQLFragment) -> SQLFragment {
        SQLFragment("left(\(text.text), \(Limits.indexedCharacters))", text.arguments)
            .suffixed("COLLATE \"C\"")
    }

    /// The text that a user's column is ordered by, as an index can have it.
    private func indexedText(
        _ column: Expression, _ json: SQLFragment
    ) throws(Beyond) -> SQLFragment { .call("odata_order_text", json, try jsonMoment(column)) }
}

extension SQLFragment {
    /// The fragment with `$1`, `$2`, … for its arguments.
    public func numbered() -> SQLFragment {
        var text = ""
        let parts = self.text.split(separator: "?", omittingEmptySubsequences: false)
        for (number, part) in parts.enumerated() {
            if number > 0 { text += "$\(number)" }
            text += part
        }
        return SQLFragment(text, arguments)
    }

    /// `(fragment word)`.
    func suffixed(_ word: String) -> SQLFragment { SQLFragment("(\(text) \(word))", arguments) }

    /// `fragment words`.
    fileprivate func followed(by words: String) -> SQLFragment {
        SQLFragment("\(text) \(words)", arguments)
    }

    /// The SQL with its arguments, which are texts, in it. It has no question mark but theirs.
    fileprivate var withoutArguments: String {
        let parts = text.split(separator: "?", omittingEmptySubsequences: false)
        let texts = arguments.map { argument in
            "'\((argument.string ?? "").replacing("'", with: "''"))'"
        }
        return zip(parts, texts + [""]).map { "\($0)\($1)" }.joined()
    }
}

/// What queries on PostgreSQL look at beside a row's text, made when the row is written.
///
/// The text itself stays as it came. `jsonb` could not hold every such text: it has no U+0000, and
/// compares numbers by more digits than SQLite and the clients do.
public struct PostgreSQLContent: Sendable, Hashable {
    /// The values as the text of a jsonb: numbers as SQLite reads them, U+0000 escaped.
    public let values: String
    /// The texts that are dates, as ticks, and those that are times of day, as ticks in quotes, at the
    /// same paths; nil where there is none.
    public let moments: String?

    /// The content of a row's columns.
    public init(_ columns: Columns) {
        // Columns were valid once; a damaged row has no content.
        let value = (try? JSONValue(parsing: columns.text)) ?? .object([])
        values = Self.canonical(value).text
        moments = Self.moments(value)?.text
    }

    private static func canonical(_ value: JSONValue) -> JSONValue {
        switch value {
        case .null, .bool: value
        case .number(let number): .number(JSONNumber(Self.number(number.text)) ?? number)
        case .string(let text): .string(escaped(text))
        case .array(let elements): .array(elements.map(canonical))
        case .object(let members):
            .object(members.map { .init(escaped($0.name), canonical($0.value)) })
        }
    }

    private static func moments(_ value: JSONValue) -> JSONValue? {
        switch value {
        case .null, .bool, .number, .array: return nil
        case .string(let text):
            if let instant = Instant(parsing: text) {
                return JSONNumber(String(instant.ticks)).map { .number($0) }
            }
            return TimeLiteral(text).map { .string(String($0.ticks)) }
        case .object(let members):
            let found = members.compactMap { member in
                moments(member.value).map { JSONValue.Member(escaped(member.name), $0) }
            }
            return found.isEmpty ? nil : .object(found)
        }
    }

    /// A number as SQLite reads it, in digits that PostgreSQL compares alike: a whole number of 64 bits
    /// by all its digits, any other by those of its double.
    static func number(_ text: String) -> String {
        if let integer = Int64(text) { return String(integer) }
        let number = Double(text) ?? 0
        // Beyond every number that a double is.
        if number.isInfinite { return number < 0 ? "-1e400" : "1e400" }
        // From 2^53 on a double is whole, and its shortest digits are not its value.
        if abs(number) >= 0x1p53, let integer = Int64(exactly: number) { return String(integer) }
        return number.description
    }

    /// The constant of a query: with a suffix other than `L` it is a double.
    static func number(of literal: NumberLiteral) -> String {
        if let integer = literal.integer { return String(integer) }
        return number((Double(literal.text) ?? 0).description)
    }

    /// A text without U+0000, in the same order of bytes as all others that were escaped.
    static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 < 2 }) else { return text }
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0: bytes += [1, 2]
            case 1: bytes += [1, 3]
            case _: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
