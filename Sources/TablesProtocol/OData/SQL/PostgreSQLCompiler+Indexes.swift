/// What the indexes of a table add to the SQL of a list, so that PostgreSQL can use them.
///
/// An index is one of expressions, the keys, which PostgreSQL knows again where a list has the same ones. The
/// terms here hold for every row for which the list's condition holds, and the order is the one of the list. So
/// they change no answer, whether or not the index is there.
public struct IndexedList: Sendable {
    /// The condition, if PostgreSQL can judge it. What the terms find by its key counts for the planner in them alone:
    /// it knows how often a key is there, and would guess anew for the condition that says the same.
    public let condition: SQLFragment?
    /// The terms that hold in any case.
    public let terms: [SQLFragment]
    /// Those that hold while no row of the table has an oddity.
    public let termsWithoutOddities: [SQLFragment]
    /// The order, while no row has a long value, and otherwise; nil where no index gives the order.
    public let order: (usual: SQLFragment, withLongValues: SQLFragment)?
    /// The oddity of a row: null, `long` or `number`. Nil where none is of interest.
    public let oddity: SQLFragment?
}

extension PostgreSQLCompiler {
    /// The keys of an index, as SQL without arguments; the id is the last one.
    public func indexKeys(_ shape: IndexShape) -> String {
        var keys = shape.equalities.map { equalityKey($0) }
        for term in shape.order { keys += orderKeys(term) }
        return SQLFragment.joined(keys + [idKey], separator: ", ").withoutArguments
    }

    /// The oddity of a row for an index, as SQL without arguments; nil where rows have none.
    public func indexOddity(_ shape: IndexShape) -> String? { oddity(shape)?.withoutArguments }

    /// What indexes add to a list; nil where none of them serves it.
    ///
    /// - Parameters:
    ///   - conditions: an expression that holds for each row of the list.
    ///   - orderBy: the order before the id; nil for one that no index has.
    public func indexed(
        by shapes: [IndexShape], _ conditions: Expression?, _ orderBy: [Ordering]?
    ) -> IndexedList? {
        let conditions = conditions.map(TableQuery.conditions) ?? []
        let equal = Dictionary(
            conditions.compactMap { condition in equality(condition).map { ($0.column, $0.key) } },
            uniquingKeysWith: { first, _ in first })
        let usable = shapes.filter { $0.equalities.allSatisfy { equal[$0] != nil } }
        guard !usable.isEmpty else { return nil }
        let wanted = orderBy.flatMap { TableQuery(orderBy: $0).indexOrder(types.spelling) }
        let ordering = usable.first { $0.order == wanted }
        let bounds = usable.map { shape -> [Bound] in
            guard case .column(let column)? = shape.order.first?.expression else { return [] }
            return conditions.compactMap { bound($0, of: column) }
        }
        let main = ordering ?? zip(usable, bounds).first { !$1.isEmpty }?.0
        let ofMain = zip(usable, bounds).first { shape, _ in shape == main }?.1 ?? []
        let numbers = ofMain.filter(\.isOfNumbers).map(\.term)
        let others = bounds.flatMap(\.self).filter { !$0.isOfNumbers }.map(\.term)
        let columns = Set(usable.flatMap(\.equalities)).sorted { "\($0)" < "\($1)" }
        let judged = conditions.map { condition -> SQLFragment? in
            guard let found = equality(condition), columns.contains(found.column) else {
                return filter(condition)
            }
            return filter(condition).map {
                SQLFragment("CASE WHEN \($0.text) THEN TRUE ELSE FALSE END", $0.arguments)
            }
        }
        let all = judged.compactMap(\.self)
        return IndexedList(
            condition: all.isEmpty || all.count < judged.count ? nil : .chain(all, "AND"),
            terms: columns.compactMap { equal[$0] } + others, termsWithoutOddities: numbers,
            order: ordering.map { shape in
                (order(shape, hasLongValues: false), order(shape, hasLongValues: true))
            },
            oddity: ordering == nil && numbers.isEmpty ? nil : main.flatMap(oddity))
    }

    // MARK: Keys

    private func equalityKey(_ column: Expression.Column) -> SQLFragment {
        let value = json(.column(column)) ?? SQLFragment("NULL::jsonb")
        return SQLFragment.call("odata_equality_key", value).suffixed("COLLATE \"C\"")
    }

    private func orderKeys(_ term: Ordering, hasLongValues: Bool = false) -> [SQLFragment] {
        let direction = term.descending ? " DESC" : " ASC"
        guard case .column(.user) = term.expression, let value = json(term.expression) else {
            let keys = hasExactStamps && term.expression == .column(.system(.updatedAt))
                ? ["stamp", "stamp_ticks"] : types.stamp(term.expression).map { [$0.text] } ?? []
            return keys.map { SQLFragment($0 + direction) }
        }
        let text = orderText(term.expression, value)
        var keys = [
            Self.orderClass(value), Self.orderNumber(value),
            SQLFragment("left(\(text.text), \(Limits.indexedCharacters))", text.arguments)
                .suffixed("COLLATE \"C\""),
        ]
        if hasLongValues { keys.append(text.suffixed("COLLATE \"C\"")) }
        let nulls = term.descending ? " NULLS LAST" : " NULLS FIRST"
        return keys.map { SQLFragment("(\($0.text))" + direction + nulls, $0.arguments) }
    }

    /// The text of a column by which its rows are in order, as an index can have it.
    private func orderText(_ column: Expression, _ value: SQLFragment) -> SQLFragment {
        .call("odata_order_text", value, (try? jsonMoment(column)) ?? SQLFragment("NULL::jsonb"))
    }

    /// The last key of each index and order.
    private var idKey: SQLFragment {
        SQLFragment(types.schema.hasIntegerIDs ? "odata_number(id)" : "id")
    }

    private func order(_ shape: IndexShape, hasLongValues: Bool) -> SQLFragment {
        .joined(
            shape.order.flatMap { orderKeys($0, hasLongValues: hasLongValues) }
                + [idKey], separator: ", ")
    }

    private func oddity(_ shape: IndexShape) -> SQLFragment? {
        let oddities = shape.order.compactMap { term -> SQLFragment? in
            guard case .column(.user) = term.expression, let value = json(term.expression),
                let moment = try? jsonMoment(term.expression)
            else { return nil }
            return .call("odata_oddity", value, moment)
        }
        guard oddities.count > 1, let first = oddities.first else { return oddities.first }
        let isLong = SQLFragment.chain(oddities.map { $0.suffixed("= 'long'") }, "OR")
        return SQLFragment(
            "CASE WHEN \(isLong.text) THEN 'long' ELSE \(first.text) END",
            isLong.arguments + first.arguments)
    }

    // MARK: Terms

    /// A condition that a column equals one value, as a term of the column's key.
    private func equality(
        _ condition: Expression
    ) -> (column: Expression.Column, key: SQLFragment)? {
        guard let column = condition.equalityColumn?.key(types.spelling) else { return nil }
        let value: JSONValue
        switch condition {
        case .binary(_, .literal(let literal), _), .binary(_, _, .literal(let literal)):
            switch literal {
            case .null: value = .null
            case .boolean(let truth): value = .bool(truth)
            case .string(let text): value = .string(PostgreSQLContent.escaped(text))
            case .binary(let bytes): value = .string(Base64.encoded(bytes))
            case .number(let number):
                guard let number = JSONNumber(PostgreSQLContent.number(of: number)) else {
                    return nil
                }
                value = .number(number)
            case .instant, .guid, .date, .time, .duration, .geo: return nil
            }
        case .column: value = .bool(true)
        case .literal, .unary, .binary, .logical, .call, .inList, .cast, .isOf, .quantified,
            .variable:
            return nil
        }
        let key = SQLFragment("odata_equality_key(?::jsonb)", [.text(value.text)])
        return (column, equalityKey(column).infix("=", key))
    }

    private struct Bound {
        let term: SQLFragment
        /// Whether texts that are numbers may be in it too.
        let isOfNumbers: Bool
    }

    /// A condition that bounds a column on one side, as terms of an order's keys.
    private func bound(_ condition: Expression, of column: Expression.Column) -> Bound? {
        guard case .binary(var operation, var left, var right) = condition else { return nil }
        if case .literal = left {
            (left, right) = (right, left)
            operation = operation.mirrored
        }
        let isAtLeast: Bool
        switch operation {
        case .greaterThan, .greaterOrEqual: isAtLeast = true
        case .lessThan, .lessOrEqual: isAtLeast = false
        case .equal, .notEqual, .add, .sub, .mul, .div, .divBy, .mod, .has: return nil
        }
        guard case .column(let named) = left, named.key(types.spelling) == column,
            case .literal(let literal) = right
        else { return nil }
        let word = isAtLeast ? ">=" : "<="
        switch (column, literal) {
        case (.system, .instant(let bound)):
            guard let stamp = types.stamp(left)?.text else { return nil }
            let milliseconds = SQLFragment(
                "?::bigint", [.integer(bound.instant.milliseconds)])
            return Bound(
                term: SQLFragment(stamp).infix(word, milliseconds), isOfNumbers: false)
        case (.user, .number):
            guard let value = json(left), let bound = try? number(right) else { return nil }
            let isNumber = Self.orderClass(value).suffixed("= 1")
            return Bound(
                term: isNumber.infix("AND", Self.orderNumber(value).infix(word, bound)),
                isOfNumbers: true)
        case (.user, .instant(let bound)):
            guard let value = json(left) else { return nil }
            let text = orderText(left, value)
            let key = SQLFragment(
                "left(\(text.text), \(Limits.indexedCharacters))", text.arguments
            ).suffixed("COLLATE \"C\"")
            return Bound(
                term: Self.orderClass(value).suffixed("= 2").infix(
                    "AND", key.infix(word, Self.bound(bound.instant.sortedText))),
                isOfNumbers: false)
        case (.id, _), (.user, _), (.system, _): return nil
        }
    }
}

extension SQLFragment {
    /// The SQL with its arguments, which are texts, in it. The text itself has no question mark but theirs.
    fileprivate var withoutArguments: String {
        var parts = text.split(separator: "?", omittingEmptySubsequences: false)[...]
        var sql = String(parts.removeFirst())
        for (part, argument) in zip(parts, arguments) {
            sql += "'\((argument.string ?? "").replacing("'", with: "''"))'" + part
        }
        return sql
    }
}
