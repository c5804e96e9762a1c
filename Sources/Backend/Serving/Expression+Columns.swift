import TablesProtocol

extension Expression {
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
}
