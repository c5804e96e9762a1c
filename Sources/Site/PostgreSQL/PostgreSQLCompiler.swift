package import TablesProtocol

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
package struct PostgreSQLCompiler: Sendable {
    /// What PostgreSQL has no means for.
    struct Beyond: Error {}

    /// What is known of types and constants, which is the same in both dialects.
    let types: SQLCompiler
    /// Whether `updatedAt` is compared to 100 ns.
    let hasExactStamps: Bool
    /// Whether null has to be told from false.
    var isExact = false

    /// A compiler for one table; the parameters are those of ``SQLCompiler``.
    ///
    /// - Parameter hasExactStamps: whether `updatedAt` is compared to 100 ns rather than milliseconds.
    package init(
        hasIntegerIDs: Bool = false, hasExactStamps: Bool = false,
        nulls: NullComparison = .unknown,
        spelling: @escaping @Sendable (String) -> String = { $0 }
    ) {
        types = SQLCompiler(
            ItemSQLSchema(hasIntegerIDs: hasIntegerIDs), nulls: nulls, spelling: spelling)
        self.hasExactStamps = hasExactStamps
    }

    /// The condition that `$filter` stands for: true, false or null; nil where PostgreSQL cannot judge.
    package func filter(_ expression: Expression) -> SQLFragment? { try? condition(expression) }

    /// A condition that holds for every row for which the expression holds, and for others too where
    /// PostgreSQL cannot judge parts of it.
    package func necessary(_ expression: Expression) -> SQLFragment {
        if let fragment = filter(expression) { return fragment }
        guard case .logical(.and, let operands) = expression else { return SQLFragment("TRUE") }
        let judged = operands.compactMap { filter($0) }
        return judged.isEmpty ? SQLFragment("TRUE") : .chain(judged, "AND")
    }

    /// The terms of `ORDER BY`, always total: the id is the last one. Nil where PostgreSQL cannot judge.
    /// - Parameter indexes: those by one column that the table has.
    package func ordering(_ terms: [Ordering], indexes: [IndexShape] = []) -> SQLFragment? {
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
        case .column, .literal, .unary, .binary, .logical, .call, .inList:
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
        case .column:
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
    package func indexKeys(_ shape: IndexShape) -> String? {
        guard let term = column(of: shape.order) else { return nil }
        return (try? indexedOrder(term))
            .map { SQLFragment.joined($0.keys, separator: ", ").withoutArguments }
    }

    /// What holds for each row for which a filter holds, in words of the keys: of bounds of indexed columns. So an
    /// index serves them, and the planner knows how many rows there are.
    package func bounds(_ filter: Expression, indexes: [IndexShape]) -> [SQLFragment] {
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
        case .equal, .notEqual, .add, .sub, .mul, .div, .divBy, .mod: return nil
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
        case .null, .boolean, .string, .guid, .binary, .date, .time: return nil
        }
    }

    /// The one column of the user that comes before the id in an order, in the table's spelling; nil for any other
    /// order.
    private func column(of terms: [Ordering]) -> Ordering? {
        let order = TableQuery(orderBy: terms).indexOrder(spelling: types.spelling)
        guard let order, order.count == 1, case .column(.user) = order[0].expression else {
            return nil
        }
        return order[0]
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
    package func numbered() -> SQLFragment {
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
