/// Writes a tree in one dialect, with the names of one generation.
///
/// Every operand that is itself an operation stands in parentheses, as the SDKs write it: the
/// parsers of the real servers have only been tried on that.
struct Printer {
    let dialect: Dialect
    let names: Generation
    let option: String

    func text(_ expression: Expression) throws(ODataError) -> String {
        switch expression {
        case .literal(let literal):
            return try text(literal)
        case .column(let column):
            return try text(column)
        case .unary(.not, let operand):
            return "not (\(try text(operand)))"
        case .unary(.negate, let operand):
            return "-(\(try text(operand)))"
        case .binary(let operation, let left, let right):
            try check(operation)
            return "\(try operand(left)) \(operation.rawValue) \(try operand(right))"
        case .logical(let operation, let operands):
            return try list(operands, separator: " \(operation.rawValue) ", operand)
        case .call(let function, let arguments):
            return try call(function, arguments)
        case .inList(let value, let literals):
            return try inList(value, literals)
        case .cast(let value, let type):
            try needV4("cast")
            return "cast(\(try text(value)),\(type.rawValue))"
        case .isOf(let value, let type):
            try needV4("isof")
            return "isof(\(try text(value)),\(type.rawValue))"
        case .quantified(let quantifier, let collection, let lambda):
            try needV4(quantifier.rawValue)
            let condition = try lambda.map { (lambda) throws(ODataError) in
                "\(lambda.variable): \(try text(lambda.condition))"
            }
            return "\(try text(collection))/\(quantifier.rawValue)(\(condition ?? ""))"
        case .variable(let variable):
            return ([variable.name] + variable.path).joined(separator: "/")
        }
    }

    /// No server is known to have `divby`, and `has` came with v4.
    private func check(_ operation: Expression.BinaryOperator) throws(ODataError) {
        switch operation {
        case .divBy: throw lack("operator 'divby'")
        case .has: try needV4("has")
        case .equal, .notEqual, .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual, .add, .sub,
            .mul, .div, .mod:
            break
        }
    }

    private func needV4(_ word: String) throws(ODataError) {
        if dialect == .v3 { throw lack("'\(word)'") }
    }

    func lack(_ what: String) -> ODataError {
        refusal("A backend of generation \(names.rawValue) has no \(what)")
    }

    func text(_ column: Expression.Column) throws(ODataError) -> String {
        if let name = column.name(in: names) { return name }
        throw refusal("A backend of generation \(names.rawValue) has no column for createdAt")
    }

    private func operand(_ expression: Expression) throws(ODataError) -> String {
        switch expression {
        case .binary, .logical, .inList: "(\(try text(expression)))"
        case .literal, .column, .unary, .call, .cast, .isOf, .quantified, .variable:
            try text(expression)
        }
    }

    private func call(
        _ function: Expression.Function, _ arguments: [Expression]
    ) throws(ODataError) -> String {
        var name = function.rawValue
        var arguments = arguments
        if function == .contains, dialect == .v3 {
            name = "substringof"
            arguments.reverse()
        }
        guard function.dialects.contains(dialect) else { throw lack("function '\(name)'") }
        if function == .count { return "\(try text(arguments[0]))/$count" }
        return "\(name)(\(try list(arguments, separator: ",", text)))"
    }

    /// OData v3 has no lists: `x in (a,b)` is `(x eq a) or (x eq b)` there.
    private func inList(
        _ value: Expression, _ literals: [Expression.Literal]
    ) throws(ODataError) -> String {
        switch dialect {
        case .v3:
            let comparisons = literals.map { Expression.binary(.equal, value, .literal($0)) }
            guard let joined = Expression.joined(.or, comparisons) else {
                throw refusal("A list without elements cannot be sent")
            }
            return try text(joined)
        case .v4:
            let list = try list(literals.map { .literal($0) }, separator: ",", text)
            return "\(try operand(value)) in (\(list))"
        }
    }

    private func list(
        _ expressions: [Expression], separator: String,
        _ write: (Expression) throws(ODataError) -> String
    ) throws(ODataError) -> String {
        var result = ""
        for (index, expression) in expressions.enumerated() {
            if index > 0 { result += separator }
            result += try write(expression)
        }
        return result
    }

    private func refusal(_ reason: String) -> ODataError {
        ODataError(option: option, reason: reason, position: 0)
    }
}
