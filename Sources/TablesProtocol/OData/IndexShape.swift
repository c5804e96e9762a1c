/// The columns of an index, as an `$orderby` names them: `price desc`, or `complete,updatedAt desc`. Every index
/// ends with the id, which is not named.
public struct IndexShape: Sendable, Hashable {
    /// The user's columns, `createdAt` and `updatedAt`.
    public let order: [Ordering]

    /// Reads the text of a setting.
    /// - Returns: nil for anything but one to ``Limits/indexColumns`` different columns, and for the order that
    ///   every table has an index for.
    public init?(_ text: String) {
        let parameter = QueryParameter(name: "$orderby", value: text, raw: text)
        guard let query = try? TableQuery.parse([parameter], generation: .mobileApps),
            query.orderBy.allSatisfy({ $0.expression != .column(.id) }),
            let order = query.indexOrder(spelling: { $0 }), order.count == query.orderBy.count,
            1...Limits.indexColumns ~= order.count,
            order.count > 1 || order[0].expression.isUserColumn
        else { return nil }
        self.order = order
    }

    private init(order: [Ordering]) { self.order = order }

    /// The index as a setting names it.
    public var text: String { order.map(Self.text).joined(separator: ",") }

    fileprivate static func text(_ term: Ordering) -> String {
        guard case .column(let column) = term.expression else { return "" }
        return (column.name(in: .mobileApps) ?? "") + (term.descending ? " desc" : "")
    }

    /// The names of the user's columns; of a path its first one.
    public var userColumns: [String] {
        order.compactMap { term in
            guard case .column(.user(let path)) = term.expression else { return nil }
            return path.first
        }
    }

    /// The same index of a table that spells its columns in its own way.
    public func spelled(_ spelling: (String) -> String) -> IndexShape {
        IndexShape(order: TableQuery(orderBy: order).indexOrder(spelling: spelling) ?? order)
    }
}

/// What an index must have to return a list in its own order, so that the query stops after its last row.
public struct IndexedList: Sendable {
    /// The user's columns that must equal one value, with the value.
    let held: [Expression.Column: Expression.Literal]
    /// The order without the id, and without columns that must equal one value.
    let order: [Ordering]

    /// The index that has just what the list needs. Nil where every table has it, and where it has too many columns.
    public var shape: IndexShape? {
        let first = held.keys.map { IndexShape.text(Ordering(.column($0), descending: false)) }
        return IndexShape((first.sorted() + order.map(IndexShape.text)).joined(separator: ","))
    }

    /// The constants to which a filter holds the first columns of an index; nil if the index does not return the
    /// list in its order.
    public func constants(
        in index: IndexShape
    ) -> [(column: Expression.Column, value: Expression.Literal)]? {
        guard index.order.count >= order.count, index.order.suffix(order.count) == order[...] else {
            return nil
        }
        let first = index.order.dropLast(order.count).map { term in
            term.expression.column.flatMap { column in held[column].map { (column, $0) } }
        }
        return first.contains { $0 == nil } ? nil : first.compactMap(\.self)
    }
}

extension TableQuery {
    /// What an index must have to return this list in its order.
    ///
    /// 1. Columns that must equal a text, number, boolean or null can be the first ones of the index. Other
    ///    conditions on user's columns are checked on each row.
    /// 2. Then come the columns of the order. A range of the first one is read directly. Without an order,
    ///    rows come by id.
    /// 3. There is none for a list by one id, or by a time that is not the first of the order, because the
    ///    fixed indexes serve these better. There is also none for an order by a computed value or by
    ///    descending ids.
    ///
    /// - Parameter spelling: gives the table's spelling of a user's column.
    public func indexedList(spelling: (String) -> String) -> IndexedList? {
        guard var order = indexOrder(spelling: spelling) else { return nil }
        let first = order.first?.expression
        if after != nil, first != .column(.system(.updatedAt)) { return nil }
        var held: [Expression.Column: Expression.Literal] = [:]
        for condition in filter.map(Self.conditions) ?? [] {
            if let equality = condition.equality {
                if let column = equality.column.key(spelling) { held[column] = equality.value }
            } else if !condition.usesOnlyUserColumns {
                guard let time = condition.boundedTime, first == .column(time) else { return nil }
            }
        }
        order.removeAll { term in term.expression.column.map { held[$0] != nil } ?? false }
        return IndexedList(held: held, order: order)
    }

    package static func conditions(_ filter: Expression) -> [Expression] {
        if case .logical(.and, let conditions) = filter { return conditions }
        return [filter]
    }

    /// The columns of the order before the id; nil if an index cannot return the order.
    package func indexOrder(spelling: (String) -> String) -> [Ordering]? {
        var order: [Ordering] = []
        for term in orderBy {
            if case .literal = term.expression { continue }
            guard let column = term.expression.column else { return nil }
            if column == .id { return term.descending ? nil : order }
            guard let key = column.key(spelling),
                !order.contains(where: { $0.expression == .column(key) })
            else { return nil }
            order.append(Ordering(.column(key), descending: term.descending))
        }
        return order
    }
}

extension Expression.Column {
    /// The column as an index names it; nil if it cannot be indexed.
    fileprivate func key(_ spelling: (String) -> String) -> Expression.Column? {
        switch self {
        case .id, .system(.version), .system(.deleted): return nil
        case .system(.createdAt), .system(.updatedAt): return self
        case .user(let path):
            let spelled = path.enumerated().map { $0 == 0 ? spelling($1) : $1 }
            return JSONPath.constant(spelled) == nil ? nil : .user(path: spelled)
        }
    }
}

extension Expression {
    fileprivate var column: Column? {
        if case .column(let column) = self { return column }
        return nil
    }

    fileprivate var isUserColumn: Bool {
        if case .column(.user) = self { return true }
        return false
    }

    /// The user's column that must equal one value by the condition, if `json_extract` returns that value
    /// unchanged; else nil.
    fileprivate var equality: (column: Column, value: Literal)? {
        switch self {
        case .column(.user(let path)):
            return (.user(path: path), .boolean(true))
        case .binary(.equal, .column(.user(let path)), .literal(let literal)),
            .binary(.equal, .literal(let literal), .column(.user(let path))):
            switch literal {
            case .null, .boolean, .number: return (.user(path: path), literal)
            case .string(let text):
                return text.utf8.contains(0) ? nil : (.user(path: path), literal)
            case .binary, .instant, .guid, .date, .time: return nil
            }
        case .literal, .column, .unary, .binary, .logical, .call, .inList: return nil
        }
    }

    /// `createdAt` or `updatedAt`, if the condition bounds it on one side; else nil.
    fileprivate var boundedTime: Column? {
        guard case .binary(let operation, let left, let right) = self else { return nil }
        switch operation {
        case .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual: break
        case .equal, .notEqual, .add, .sub, .mul, .div, .divBy, .mod: return nil
        }
        switch (left, right) {
        case (.column(.system(let property)), .literal), (.literal, .column(.system(let property))):
            return property == .createdAt || property == .updatedAt ? .system(property) : nil
        default: return nil
        }
    }

    /// Whether the condition uses neither the id nor `createdAt` or `updatedAt`.
    fileprivate var usesOnlyUserColumns: Bool {
        columns.isDisjoint(with: [.id, .system(.createdAt), .system(.updatedAt)])
    }
}

extension Expression {
    /// The conditions that must all hold, in one form for what is written differently and means the same:
    /// `1L eq rank` and `rank eq 1`, `done` and `done eq true`, `a or b` and `b or a`, `x in (1,2)` and
    /// `x eq 1 or x eq 2`. Names of columns are in lower case.
    public var conjuncts: Set<Expression> {
        if case .logical(.and, let conditions) = asCondition { return Set(conditions) }
        return [asCondition]
    }

    /// The columns of the item that the expression names.
    public var columns: Set<Column> {
        switch self {
        case .column(let column): [column]
        case .literal: []
        case .unary(_, let operand), .inList(let operand, _): operand.columns
        case .binary(_, let left, let right): left.columns.union(right.columns)
        case .logical(_, let operands), .call(_, let operands):
            operands.reduce(into: []) { $0.formUnion($1.columns) }
        }
    }

    private var asCondition: Expression {
        switch self {
        case .column: .binary(.equal, asValue, .literal(.boolean(true)))
        case .unary(.not, let operand): .unary(.not, operand.asCondition)
        case .logical(let operation, let operands):
            Self.chain(operation, operands.map(\.asCondition))
        case .inList(let value, let literals):
            Self.chain(
                .or, literals.map { .binary(.equal, value.asValue, .literal($0.inOneForm)) })
        case .literal, .unary, .binary, .call: asValue
        }
    }

    /// A chain whose operands have no order. Each is there once.
    private static func chain(
        _ operation: LogicalOperator, _ operands: [Expression]
    ) -> Expression {
        guard case .logical(operation, let flat)? = joined(operation, operands) else {
            return operands.first ?? .literal(.boolean(operation == .and))
        }
        let sorted = Set(flat).map { (text: "\($0)", $0) }.sorted { $0.text < $1.text }.map(\.1)
        return joined(operation, sorted) ?? .logical(operation, flat)
    }

    private var asValue: Expression {
        switch self {
        case .literal(let literal): .literal(literal.inOneForm)
        case .column(.user(let path)):
            .column(.user(path: path.enumerated().map { $0 == 0 ? $1.lowercased() : $1 }))
        case .column: self
        case .unary(.not, _), .logical, .inList: asCondition
        case .unary(.negate, let operand): .unary(.negate, operand.asValue)
        case .binary(let operation, let left, let right):
            if case .literal = left, let turned = operation.turned {
                .binary(turned, right.asValue, left.asValue)
            } else {
                .binary(operation, left.asValue, right.asValue)
            }
        case .call(let function, let arguments): .call(function, arguments.map(\.asValue))
        }
    }
}

extension Expression.BinaryOperator {
    /// The comparison with its sides exchanged; nil for an operator that is none.
    fileprivate var turned: Expression.BinaryOperator? {
        switch self {
        case .equal, .notEqual: self
        case .greaterThan: .lessThan
        case .greaterOrEqual: .lessOrEqual
        case .lessThan: .greaterThan
        case .lessOrEqual: .greaterOrEqual
        case .add, .sub, .mul, .div, .divBy, .mod: nil
        }
    }
}

extension Expression.Literal {
    fileprivate var inOneForm: Expression.Literal {
        switch self {
        case .number(let number):
            number.integer.map { .number(NumberLiteral($0)) } ?? self
        case .instant(let literal): .instant(InstantLiteral(literal.instant))
        case .guid(let text): .guid(text.lowercased())
        case .null, .boolean, .string, .binary, .date, .time: self
        }
    }
}
