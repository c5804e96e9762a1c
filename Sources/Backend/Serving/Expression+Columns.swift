import TablesProtocol

extension Expression {
    /// The column that holds the exact stamp of an item; no client's column can have this name.
    static let exactColumn = "$updatedAt"

    /// Calls `visit` with each column in the expression.
    func eachColumn(_ visit: (Column) -> Void) {
        switch self {
        case .literal, .variable: break
        case .column(let column): visit(column)
        case .unary(_, let operand), .inList(let operand, _), .cast(let operand, _),
            .isOf(let operand, _):
            operand.eachColumn(visit)
        case .quantified(_, let collection, let lambda):
            collection.eachColumn(visit)
            lambda?.condition.eachColumn(visit)
        case .binary(_, let left, let right):
            left.eachColumn(visit)
            right.eachColumn(visit)
        case .logical(_, let operands), .call(_, let operands):
            for operand in operands { operand.eachColumn(visit) }
        }
    }

    /// The expression with every comparison of `updatedAt` and a constant as one of exact ticks.
    var inTicks: Expression {
        switch self {
        case .column(.system(.updatedAt)): .column(.user(path: [Self.exactColumn]))
        case .binary(let operation, .column(.system(.updatedAt)), .literal(.instant(let literal))):
            .binary(
                operation, .column(.user(path: [Self.exactColumn])),
                .literal(.number(NumberLiteral(literal.instant.ticks))))
        case .unary(let operation, let operand): .unary(operation, operand.inTicks)
        case .logical(let operation, let operands): .logical(operation, operands.map(\.inTicks))
        case .literal, .column, .binary, .call, .inList, .cast, .isOf, .quantified, .variable: self
        }
    }
}
