@testable import TablesProtocol

/// A repeatable source of randomness, and trees made from it.
struct ODataRandom: RandomNumberGenerator {
    private var numbers: SeededGenerator

    init(seed: UInt64) { numbers = SeededGenerator(seed: seed) }

    mutating func next() -> UInt64 { numbers.next() }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &self)]
    }

    mutating func isOne(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}

extension ODataRandom {
    /// A tree that a dialect can spell as it is.
    mutating func tree(
        _ dialect: Dialect, _ names: Generation, depth: Int
    ) -> Expression {
        if depth <= 1 || isOne(in: 5) { return leaf(dialect, names) }
        func child(_ random: inout ODataRandom) -> Expression {
            random.tree(dialect, names, depth: depth - 1)
        }
        switch Int.random(in: 0..<6, using: &self) {
        case 0:
            return .unary(pick(Expression.UnaryOperator.allCases), child(&self))
        case 1:
            // A server has one division.
            let operators = Expression.BinaryOperator.allCases.filter {
                ($0 != .div && $0 != .divBy) || $0 == names.division
            }
            return .binary(pick(operators), child(&self), child(&self))
        case 2:
            let operands = (0..<Int.random(in: 2...4, using: &self)).map { _ in child(&self) }
            let operation = pick(Expression.LogicalOperator.allCases)
            return Expression.joined(operation, operands) ?? operands[0]
        case 3 where dialect == .v4:
            let literals = (0..<Int.random(in: 1...3, using: &self)).map { _ in literal(dialect) }
            return .inList(child(&self), literals)
        default:
            let functions = Expression.Function.allCases.filter { $0.dialects.contains(dialect) }
            let function = pick(functions)
            if function == .count { return .call(.count, [.column(.user(path: ["tags"]))]) }
            let count = Int.random(in: function.argumentCounts, using: &self)
            return .call(function, (0..<count).map { _ in child(&self) })
        }
    }

    private mutating func leaf(
        _ dialect: Dialect, _ names: Generation
    ) -> Expression {
        if isOne(in: 2) { return .literal(literal(dialect)) }
        if isOne(in: 3) {
            let properties = SystemProperty.allCases.filter { $0.name(in: names) != nil }
            return isOne(in: 4) ? .column(.id) : .column(.system(pick(properties)))
        }
        let words = ["text", "complete", "a-b", "Été", "_x", "@odata", "not1", "eq", "X", "year"]
        let path = (0...(isOne(in: 4) ? 1 : 0)).map { _ in pick(words) }
        return .column(.user(path: path))
    }

    mutating func literal(_ dialect: Dialect) -> Expression.Literal {
        let digits = ["0", "42", "-7", "1.5", "1e10", "-2.5E-3", "9223372036854775807"]
        switch Int.random(in: 0..<(dialect == .v4 ? 9 : 7), using: &self) {
        case 0: return .null
        case 1: return .boolean(isOne(in: 2))
        case 2:
            let text = pick(digits)
            let kinds = NumberLiteral.Kind.allCases.filter { $0 != .long || Int64(text) != nil }
            return .number(NumberLiteral(text: text, kind: dialect == .v3 ? pick(kinds) : .plain))
        case 3:
            let pieces = [
                "", "'", "''", "a", "O'Neil", "%_", "\u{0}", "ß😀", " and ", "(", ",", ")",
            ]
            return .string(
                (0..<Int.random(in: 0...4, using: &self)).map { _ in pick(pieces) }.joined())
        case 4:
            let text = pick([
                "2013-01-01T00:00:00.000Z", "2014-03-01T08:00:00.1234567+02:00",
                "0001-01-01T00:00:00Z",
            ])
            let form = dialect == .v3 ? pick(InstantLiteral.Form.allCases) : .dateTimeOffset
            return InstantLiteral(text, form: form).map { .instant($0) } ?? .null
        case 5:
            return .guid(
                pick([
                    "0f8fad5b-d9cb-469f-a165-70867728950e", "0F8FAD5B-D9CB-469F-A165-70867728950E",
                ]))
        case 6:
            return .binary(
                (0..<Int.random(in: 0...5, using: &self)).map { _ in pick([0, 1, 250, 255]) })
        case 7 where dialect == .v4: return DateLiteral("2023-12-15").map { .date($0) } ?? .null
        default:
            return TimeLiteral(pick(["09:52:35.321", "00:00:00", "23:59:59"])).map { .time($0) }
                ?? .null
        }
    }
}
