@testable import TablesProtocol

/// The value of a filter for a row, computed in Swift: the oracle for compiled queries.
///
/// It supports comparisons of a row's value with a constant, `in`, parts of dates, `startswith`, numbers
/// of elements and the connectives; random trees contain nothing else (``ODataRandom/condition(_:depth:)``).
struct ODataReference {
    let nulls: NullComparison
    let row: JSONValue

    /// True, false, or nil for null.
    func truth(_ tree: Expression) -> Bool? {
        switch tree {
        case .column:
            let value = value(tree)
            return value == .null ? nil : compare(.equal, value, .boolean(true))
        case .unary(.not, let operand):
            return truth(operand).map { !$0 }
        case .logical(.and, let operands):
            let truths = operands.map { truth($0) }
            return truths.contains(false) ? false : truths.contains(nil) ? nil : true
        case .logical(.or, let operands):
            let truths = operands.map { truth($0) }
            return truths.contains(true) ? true : truths.contains(nil) ? nil : false
        case .binary(let operation, let left, .literal(let literal)):
            return compare(operation, value(left), literal)
        case .inList(let left, let literals):
            let truths = literals.map { compare(.equal, value(left), $0) }
            return truths.contains(true) ? true : truths.contains(nil) ? nil : false
        case .call(.startsWith, let arguments):
            guard case .literal(.string(let start)) = arguments[1],
                let text = value(arguments[0]).string
            else { return nil }
            return text.hasPrefix(start)
        case .literal, .unary, .binary, .call: return nil
        }
    }

    /// The value of a column or a function of one; null for none.
    private func value(_ tree: Expression) -> JSONValue {
        switch tree {
        case .column(.user(let path)):
            return path.reduce(row) { $0[$1] ?? .null }
        case .call(let function, let arguments):
            let argument = value(arguments[0])
            if function == .count {
                return .number(JSONNumber(Int64(argument.array?.count ?? 0)))
            }
            guard let text = argument.string else { return .null }
            if function == .length { return .number(JSONNumber(Int64(text.utf16.count))) }
            guard let instant = Instant(parsing: text) else { return .null }
            switch function {
            case .year: return .number(JSONNumber(Int64(instant.calendar.year)))
            case _: return .null
            }
        case .literal, .column, .unary, .binary, .logical, .inList:
            return .null
        }
    }

    private func compare(
        _ operation: Expression.BinaryOperator, _ value: JSONValue, _ literal: Expression.Literal
    ) -> Bool? {
        if literal == .null {
            switch operation {
            case .equal: return value == .null
            case .notEqual: return value != .null
            case _: return nulls == .decided ? false : nil
            }
        }
        let order: Int?
        switch (value, literal) {
        case (.string(let text), .string(let other)):
            order = text == other ? 0 : text.utf8.lexicographicallyPrecedes(other.utf8) ? -1 : 1
        case (.number(let number), .number(let other)):
            let (left, right) = (Double(number.text) ?? 0, Double(other.text) ?? 0)
            order = left == right ? 0 : left < right ? -1 : 1
        case (.bool(let bool), .boolean(let other)):
            order = bool == other ? 0 : other ? -1 : 1
        case (.string(let text), .instant(let other)):
            guard let instant = Instant(parsing: text) else { return none(operation) }
            order = instant == other.instant ? 0 : instant < other.instant ? -1 : 1
        case (.string(let text), .date(let other)):
            guard let instant = Instant(parsing: text) else { return none(operation) }
            order = instant == other.instant ? 0 : instant < other.instant ? -1 : 1
        // Some clients write a number as a text, and 1 and 0 for booleans.
        case (.string(let text), .number(let other)) where NumberLiteral.isWritten(text):
            let (left, right) = (Double(text) ?? 0, Double(other.text) ?? 0)
            order = left == right ? 0 : left < right ? -1 : 1
        case (.number(let number), .boolean(let other))
        where operation == .equal || operation == .notEqual:
            order = Double(number.text) == (other ? 1 : 0) ? 0 : 1
        // A text that is no date has no instant; a value of another type is unequal.
        case (.null, _), (_, .instant), (_, .date): return none(operation)
        case (_, .boolean) where operation != .equal && operation != .notEqual:
            return none(operation)
        case (_, _): order = nil
        }
        switch operation {
        case .equal: return order == 0
        case .notEqual: return order != 0
        case .lessThan: return order.map { $0 < 0 } ?? false
        case .lessOrEqual: return order.map { $0 <= 0 } ?? false
        case .greaterThan: return order.map { $0 > 0 } ?? false
        case .greaterOrEqual: return order.map { $0 >= 0 } ?? false
        case .add, .sub, .mul, .div, .divBy, .mod: return nil
        }
    }

    /// A comparison with null.
    private func none(_ operation: Expression.BinaryOperator) -> Bool? {
        nulls == .unknown ? nil : operation == .notEqual
    }
}

extension ODataRandom {
    /// A condition that ``ODataReference`` can evaluate.
    mutating func condition(depth: Int) -> Expression {
        if depth <= 1 { return test() }
        switch Int.random(in: 0..<5, using: &self) {
        case 0: return .unary(.not, condition(depth: depth - 1))
        case 1, 2:
            let operands = (0..<Int.random(in: 2...3, using: &self)).map { _ in
                condition(depth: depth - 1)
            }
            return Expression.joined(pick([.and, .or]), operands) ?? operands[0]
        default: return test()
        }
    }

    private mutating func test() -> Expression {
        let operations: [Expression.BinaryOperator] = [
            .equal, .notEqual, .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual,
        ]
        let operand = Expression.column(
            .user(path: isOne(in: 5) ? ["o", "a"] : [pick(["a", "b", "due"])]))
        func number(_ value: Int64) -> Expression { .literal(.number(NumberLiteral(value))) }
        switch Int.random(in: 0..<9, using: &self) {
        case 0: return operand
        case 1:
            return .inList(operand, (0..<Int.random(in: 1...3, using: &self)).map { _ in plain() })
        case 2: return .call(.startsWith, [operand, .literal(.string(pick(["", "x", "y"])))])
        case 3:
            let date = DateLiteral(pick(["2024-01-02", "2024-01-03"]))
            return .binary(
                pick(operations), operand, .literal(date.map { .date($0) } ?? .null))
        case 4: return .binary(pick(operations), .call(.year, [operand]), number(2024))
        case 5:
            let instant = InstantLiteral(
                pick(["2024-01-02T00:00:00Z", "2024-01-02T10:00:00+01:00"]))
            return .binary(
                pick(operations), operand, .literal(instant.map { .instant($0) } ?? .null))
        case 6:
            return .binary(
                pick(operations), .call(.count, [.column(.user(path: ["tags"]))]), number(2))
        default: return .binary(pick(operations), operand, .literal(plain()))
        }
    }

    private mutating func plain() -> Expression.Literal {
        switch Int.random(in: 0..<6, using: &self) {
        case 0: .null
        case 1: .boolean(isOne(in: 2))
        case 2, 3: .number(NumberLiteral(pick([0, 1, 2])))
        default: .string(pick(["x", "y", "1", "2024-01-02"]))
        }
    }
}
