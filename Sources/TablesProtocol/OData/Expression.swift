/// One node of a `$filter` or `$orderby` expression: the common tree of OData v3 and v4.
///
/// What only one dialect can spell has one form here: `substringof(needle, text)` is
/// `.call(.contains, [text, needle])`, a typed literal (`guid'…'`, `cast(…,Edm.Guid)`) is a
/// ``Literal``. `and` and `or` hold their whole chain, so that a long chain is not a deep tree.
public indirect enum Expression: Sendable, Hashable {
    /// A constant.
    case literal(Literal)
    /// A column of the item.
    case column(Column)
    /// `not x` or `-x`.
    case unary(UnaryOperator, Expression)
    /// A comparison or an arithmetic operation.
    case binary(BinaryOperator, Expression, Expression)
    /// A chain of `and` or of `or`: two or more operands, none of them a chain of the same operator.
    /// ``joined(_:_:)`` builds one.
    case logical(LogicalOperator, [Expression])
    /// A function with as many arguments as ``Function/argumentCounts`` allows.
    case call(Function, [Expression])
    /// `x in (…)`.
    case inList(Expression, [Literal])
    /// `cast(x,T)` of what is no constant.
    case cast(Expression, EdmType)
    /// `isof(x,T)`.
    case isOf(Expression, EdmType)
    /// `items/any(i: …)` and `items/all(i: …)` over an array; without a lambda, whether it has elements.
    case quantified(Quantifier, over: Expression, Lambda?)
    /// The element that a lambda looks at, or a value in it.
    case variable(Variable)
}

extension Expression {
    /// `not` and the sign.
    public enum UnaryOperator: String, Sendable, Hashable, CaseIterable {
        case not
        case negate = "-"
    }

    /// Comparisons and arithmetic; the raw value is the word on the wire.
    public enum BinaryOperator: String, Sendable, Hashable, CaseIterable {
        case equal = "eq"
        case notEqual = "ne"
        case greaterThan = "gt"
        case greaterOrEqual = "ge"
        case lessThan = "lt"
        case lessOrEqual = "le"
        case add, sub, mul, div, mod
        /// A division that gives a fraction, also of whole numbers.
        case divBy = "divby"
        /// Whether flags are set: bits of a number, or names in a text.
        case has
    }

    /// The two connectives.
    public enum LogicalOperator: String, Sendable, Hashable, CaseIterable {
        case and, or
    }

    /// Joins operands with `and` or `or`, flattening chains of the same operator.
    ///
    /// - Returns: nil without operands, the operand itself if there is one.
    public static func joined(_ operation: LogicalOperator, _ operands: [Expression]) -> Expression?
    {
        var flat: [Expression] = []
        for operand in operands {
            if case .logical(operation, let inner) = operand {
                flat += inner
            } else {
                flat.append(operand)
            }
        }
        return flat.count > 1 ? .logical(operation, flat) : flat.first
    }
}
