@testable import TablesProtocol

/// The value of a filter for a row, computed in Swift: the oracle for compiled queries.
///
/// It supports comparisons of a row's value with a constant, `in`, parts of dates, `startswith`, arrays
/// and the connectives; random trees contain nothing else (``ODataRandom/condition(_:depth:)``).
struct ODataReference {
    let nulls: NullComparison
    let row: JSONValue

    /// True, false, or nil for null.
    func truth(_ tree: Expression, _ element: [String: JSONValue] = [:]) -> Bool? {
        switch tree {
        case .column, .variable:
            let value = value(tree, element)
            return value == .null ? nil : compare(.equal, value, .boolean(true))
        case .unary(.not, let operand):
            return truth(operand, element).map { !$0 }
        case .logical(.and, let operands):
            let truths = operands.map { truth($0, element) }
            return truths.contains(false) ? false : truths.contains(nil) ? nil : true
        case .logical(.or, let operands):
            let truths = operands.map { truth($0, element) }
            return truths.contains(true) ? true : truths.contains(nil) ? nil : false
        case .binary(let operation, let left, .literal(let literal)):
            return compare(operation, value(left, element), literal)
        case .inList(let left, let literals):
            let truths = literals.map { compare(.equal, value(left, element), $0) }
            return truths.contains(true) ? true : truths.contains(nil) ? nil : false
        case .call(.startsWith, let arguments):
            guard case .literal(.string(let start)) = arguments[1],
                let text = value(arguments[0], element).string
            else { return nil }
            return text.hasPrefix(start)
        case .quantified(let quantifier, let collection, let lambda):
            let elements = value(collection, element).array ?? []
            guard let lambda else { return !elements.isEmpty }
            let truths = elements.map {
                truth(lambda.condition, element.merging([lambda.variable: $0]) { $1 })
            }
            return quantifier == .any ? truths.contains(true) : truths.allSatisfy { $0 == true }
        case .isOf(let operand, let type):
            switch (type, value(operand, element)) {
            case (.string, .string), (.boolean, .bool), (.double, .number): return true
            case (.int64, .number(let number)): return number.integer != nil
            case (_, _): return false
            }
        case .literal, .unary, .binary, .call, .cast: return nil
        }
    }

    /// The value of a column, an element or a function of one; null for none.
    private func value(_ tree: Expression, _ element: [String: JSONValue]) -> JSONValue {
        switch tree {
        case .column(.user(let path)):
            return path.reduce(row) { $0[$1] ?? .null }
        case .variable(let variable):
            return variable.path.reduce(element[variable.name] ?? .null) { $0[$1] ?? .null }
        case .call(let function, let arguments):
            let argument = value(arguments[0], element)
            if function == .count {
                return .number(JSONNumber(Int64(argument.array?.count ?? 0)))
            }
            guard let text = argument.string else { return .null }
            if function == .length { return .number(JSONNumber(Int64(text.utf16.count))) }
            guard let instant = Instant(parsing: text) else { return .null }
            switch function {
            case .date: return .string(String(instant.text.prefix(10)))
            case .year: return .number(JSONNumber(Int64(instant.calendar.year)))
            case .totalOffsetMinutes:
                let sign = text.suffix(6).first
                guard text.contains("T"), sign == "+" || sign == "-" else {
                    return .number(JSONNumber(0))
                }
                let parts = text.suffix(5).split(separator: ":").compactMap { Int64($0) }
                return .number(JSONNumber((sign == "-" ? -1 : 1) * (parts[0] * 60 + parts[1])))
            case _: return .null
            }
        case .cast(let operand, .string):
            switch value(operand, element) {
            case .string(let text): return .string(text)
            case .number(let number): return .string(number.text)
            case .bool(let bool): return .string(bool ? "true" : "false")
            case .null, .array, .object: return .null
            }
        case .literal, .column, .unary, .binary, .logical, .inList, .cast, .isOf, .quantified:
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
        case .add, .sub, .mul, .div, .divBy, .mod, .has: return nil
        }
    }

    /// A comparison with null.
    private func none(_ operation: Expression.BinaryOperator) -> Bool? {
        nulls == .unknown ? nil : operation == .notEqual
    }
}

extension ODataRandom {
    /// A condition that ``ODataReference`` can evaluate.
    mutating func condition(_ variables: [String] = [], depth: Int) -> Expression {
        if depth <= 1 { return test(variables) }
        switch Int.random(in: 0..<6, using: &self) {
        case 0: return .unary(.not, condition(variables, depth: depth - 1))
        case 1, 2:
            let operands = (0..<Int.random(in: 2...3, using: &self)).map { _ in
                condition(variables, depth: depth - 1)
            }
            return Expression.joined(pick([.and, .or]), operands) ?? operands[0]
        case 3:
            let name = "v\(variables.count)"
            let collection =
                variables.isEmpty || isOne(in: 2)
                ? Expression.column(.user(path: ["tags"])) : operand(variables)
            let inner = condition(variables + [name], depth: depth - 1)
            return .quantified(
                pick([.any, .all]), over: collection,
                isOne(in: 8) ? .init(name, test(variables + [name])) : .init(name, inner))
        default: return test(variables)
        }
    }

    private mutating func operand(_ variables: [String]) -> Expression {
        if !variables.isEmpty, !isOne(in: 3) {
            let path = isOne(in: 2) ? [] : [pick(["a", "tags"])]
            return .variable(.init(pick(variables), path: path))
        }
        return .column(.user(path: isOne(in: 5) ? ["o", "a"] : [pick(["a", "b", "due"])]))
    }

    private mutating func test(_ variables: [String]) -> Expression {
        let operations: [Expression.BinaryOperator] = [
            .equal, .notEqual, .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual,
        ]
        let operand = operand(variables)
        func number(_ value: Int64) -> Expression { .literal(.number(NumberLiteral(value))) }
        switch Int.random(in: 0..<11, using: &self) {
        case 0: return operand
        case 1:
            return .inList(operand, (0..<Int.random(in: 1...3, using: &self)).map { _ in plain() })
        case 2: return .call(.startsWith, [operand, .literal(.string(pick(["", "x", "y"])))])
        case 3: return .isOf(operand, pick([.string, .boolean, .int64, .double]))
        case 4:
            let date = DateLiteral(pick(["2024-01-02", "2024-01-03"]))
            return .binary(
                pick(operations), .call(.date, [operand]), .literal(date.map { .date($0) } ?? .null)
            )
        case 5: return .binary(pick(operations), .call(.year, [operand]), number(2024))
        case 6: return .binary(pick(operations), .call(.totalOffsetMinutes, [operand]), number(60))
        case 7:
            let instant = InstantLiteral(
                pick(["2024-01-02T00:00:00Z", "2024-01-02T10:00:00+01:00"]))
            return .binary(
                pick(operations), operand, .literal(instant.map { .instant($0) } ?? .null))
        case 8:
            return .binary(
                pick(operations), .cast(operand, .string),
                .literal(.string(pick(["1", "x", "true"]))))
        case 9:
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
