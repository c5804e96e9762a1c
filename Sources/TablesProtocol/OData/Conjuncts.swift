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
        case .literal, .variable: []
        case .unary(_, let operand), .cast(let operand, _), .isOf(let operand, _),
            .inList(let operand, _):
            operand.columns
        case .binary(_, let left, let right): left.columns.union(right.columns)
        case .logical(_, let operands), .call(_, let operands):
            operands.reduce(into: []) { $0.formUnion($1.columns) }
        case .quantified(_, let collection, let lambda):
            collection.columns.union(lambda?.condition.columns ?? [])
        }
    }

    /// Whether the value changes with time alone.
    public var dependsOnTime: Bool {
        switch self {
        case .call(.now, _): true
        case .literal, .column, .variable: false
        case .unary(_, let operand), .cast(let operand, _), .isOf(let operand, _),
            .inList(let operand, _):
            operand.dependsOnTime
        case .binary(_, let left, let right): left.dependsOnTime || right.dependsOnTime
        case .logical(_, let operands), .call(_, let operands):
            operands.contains(where: \.dependsOnTime)
        case .quantified(_, let collection, let lambda):
            collection.dependsOnTime || lambda?.condition.dependsOnTime ?? false
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
        case .literal, .unary, .binary, .call, .cast, .isOf, .quantified, .variable: asValue
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
        case .column, .variable: self
        case .unary(.not, _), .logical, .inList: asCondition
        case .unary(.negate, let operand): .unary(.negate, operand.asValue)
        case .binary(let operation, let left, let right):
            if case .literal = left, let turned = operation.turned {
                .binary(turned, right.asValue, left.asValue)
            } else {
                .binary(operation, left.asValue, right.asValue)
            }
        case .call(let function, let arguments): .call(function, arguments.map(\.asValue))
        case .cast(let value, let type): .cast(value.asValue, type)
        case .isOf(let value, let type): .isOf(value.asValue, type)
        case .quantified(let quantifier, let collection, let lambda):
            .quantified(
                quantifier, over: collection.asValue,
                lambda.map { Lambda($0.variable, $0.condition.asCondition) })
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
        case .add, .sub, .mul, .div, .divBy, .mod, .has: nil
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
        case .null, .boolean, .string, .binary, .date, .time, .duration, .geo: self
        }
    }
}
