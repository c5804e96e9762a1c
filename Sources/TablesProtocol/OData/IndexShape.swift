/// The shape of an index that returns a list in its own order: the columns that must equal one value, then
/// the columns of the order. Every index also ends with the id, which is not named here.
public struct IndexShape: Sendable, Hashable {
    /// The user's columns that must equal one value, ordered by name.
    public let equalities: [Expression.Column]
    /// The order without the id: user's columns, `createdAt` and `updatedAt`.
    public let order: [Ordering]

    /// Makes a shape; nil if it has no column, or more than ``Limits/indexColumns``.
    init?(equalities: [Expression.Column], order: [Ordering]) {
        let count = equalities.count + order.count
        guard count > 0, count <= Limits.indexColumns else { return nil }
        self.equalities = equalities
        self.order = order
    }

    /// Whether an index of this shape returns the rows of another shape in order: the orders are equal, and
    /// every column that must equal one value in this shape must do so in the other one too.
    public func serves(_ other: IndexShape) -> Bool {
        order == other.order && equalities.allSatisfy(other.equalities.contains)
    }
}

extension IndexShape {
    /// The columns for a person: `complete`, `price desc`, `updatedAt`.
    public var words: [String] {
        equalities.map(Self.name) + order.map { Self.name($0) + ($0.descending ? " desc" : "") }
    }

    /// The columns as stored: `=complete`, `-price`, `+@updatedAt`, a path with `/`.
    public var terms: [String] {
        equalities.map { "=" + Self.mark($0) + Self.name($0) }
            + order.map { term in
                (term.descending ? "-" : "+")
                    + (Self.column(term).map { Self.mark($0) + Self.name($0) } ?? "")
            }
    }

    /// Reads the text of ``terms``; nil for any other text.
    public init?(terms: [String]) {
        var equalities: [Expression.Column] = []
        var order: [Ordering] = []
        for term in terms {
            guard let sign = term.first, let column = Self.column(term.dropFirst()) else {
                return nil
            }
            switch sign {
            case "=": equalities.append(column)
            case "+": order.append(Ordering(.column(column)))
            case "-": order.append(Ordering(.column(column), descending: true))
            default: return nil
            }
        }
        self.init(equalities: equalities, order: order)
    }

    private static func column(_ text: Substring) -> Expression.Column? {
        switch text {
        case "": return nil
        case "@createdAt": return .system(.createdAt)
        case "@updatedAt": return .system(.updatedAt)
        // No column of a query begins with "@".
        case _ where text.hasPrefix("@"): return nil
        default: return .user(path: text.split(separator: "/").map(String.init))
        }
    }

    private static func column(_ term: Ordering) -> Expression.Column? {
        guard case .column(let column) = term.expression else { return nil }
        return column
    }

    private static func name(_ term: Ordering) -> String { column(term).map(name) ?? "" }

    private static func name(_ column: Expression.Column) -> String {
        column.name(in: .mobileApps) ?? ""
    }

    private static func mark(_ column: Expression.Column) -> String {
        switch column {
        case .system: "@"
        case .id, .user: ""
        }
    }
}

extension TableQuery {
    /// The shape of the index that returns this list in its order, so that the query stops after its last
    /// row.
    ///
    /// 1. Of the conditions that must all hold, those by which a user's column must equal a text, number,
    ///    boolean or null become keys. Other conditions on user's columns are checked on each row.
    /// 2. Then come the columns of the order. A range of the first one is read directly. Without an order,
    ///    rows come by id.
    /// 3. There is none for a list by one id, or by a time that is not the first of the order, because the
    ///    fixed indexes serve these better. There is also none for an order by a computed value, by a column
    ///    that must equal one value or by descending ids, and for a list that the fixed indexes serve.
    ///
    /// - Parameter spelling: gives the table's spelling of a user's column.
    public func indexShape(spelling: (String) -> String) -> IndexShape? {
        guard let order = indexOrder(spelling) else { return nil }
        let first = order.first?.expression
        if after != nil, first != .column(.system(.updatedAt)) { return nil }
        var equalities: [Expression.Column] = []
        for condition in filter.map(Self.conditions) ?? [] {
            if let column = condition.equalityColumn {
                guard let key = column.key(spelling) else { return nil }
                if !equalities.contains(key) { equalities.append(key) }
            } else if !condition.usesOnlyUserColumns {
                guard let time = condition.boundedTime, first == .column(time) else { return nil }
            }
        }
        if order.contains(where: { term in equalities.contains { term.expression == .column($0) } })
        {
            return nil
        }
        if equalities.isEmpty, order.count < 2, first?.isUserColumn != true { return nil }
        equalities.sort { ($0.name(in: .mobileApps) ?? "") < ($1.name(in: .mobileApps) ?? "") }
        return IndexShape(equalities: equalities, order: order)
    }

    package static func conditions(_ filter: Expression) -> [Expression] {
        if case .logical(.and, let conditions) = filter { return conditions }
        return [filter]
    }

    /// The columns of the order before the id; nil if an index cannot return the order.
    private func indexOrder(_ spelling: (String) -> String) -> [Ordering]? {
        var order: [Ordering] = []
        for term in orderBy {
            switch term.expression {
            case .literal: continue
            case .column(.id): return term.descending ? nil : order
            case .column(let column):
                guard let key = column.key(spelling) else { return nil }
                let known = order.contains { $0.expression == .column(key) }
                if known { return nil }
                order.append(Ordering(.column(key), descending: term.descending))
            case .unary, .binary, .logical, .call, .inList: return nil
            }
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
    fileprivate var isUserColumn: Bool {
        if case .column(.user) = self { return true }
        return false
    }

    /// The user's column that must equal one value by the condition, if `json_extract` returns that value
    /// unchanged; else nil.
    fileprivate var equalityColumn: Column? {
        switch self {
        case .column(.user(let path)): return .user(path: path)
        case .binary(.equal, .column(.user(let path)), .literal(let literal)),
            .binary(.equal, .literal(let literal), .column(.user(let path))):
            switch literal {
            case .null, .boolean, .number, .binary: return .user(path: path)
            case .string(let text): return text.utf8.contains(0) ? nil : .user(path: path)
            case .instant, .guid, .date, .time: return nil
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
        switch self {
        case .literal, .column(.user), .column(.system(.version)), .column(.system(.deleted)): true
        case .column: false
        case .unary(_, let operand): operand.usesOnlyUserColumns
        case .binary(_, let left, let right): left.usesOnlyUserColumns && right.usesOnlyUserColumns
        case .logical(_, let operands): operands.allSatisfy(\.usesOnlyUserColumns)
        case .call(_, let arguments): arguments.allSatisfy(\.usesOnlyUserColumns)
        case .inList(let value, _): value.usesOnlyUserColumns
        }
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
