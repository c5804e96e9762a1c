import TablesProtocol
import TestSupport

@testable import Backend

/// Rows and queries for the comparison of both storages: all that clients send, in all generations' words.
struct RandomQuery {
    var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed) }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    private mutating func isOne(in count: Int) -> Bool {
        Int.random(in: 0..<count, using: &random) == 0
    }

    // MARK: Rows

    /// The columns of a row: each is missing, null, or of any type now and then.
    mutating func row() -> String {
        let columns: [(String, [String])] = [
            ("text", Self.texts), ("other", Self.texts), ("n", Self.numbers), ("m", Self.numbers),
            ("done", ["true", "false"]), ("at", Self.dates), ("till", Self.dates),
            ("tags", Self.arrays), ("o", Self.objects),
        ]
        let members = columns.compactMap { name, usual -> String? in
            if isOne(in: 6) { return nil }
            if isOne(in: 8) { return "\"\(name)\":null" }
            let isAnother = isOne(in: 10)
            let values = isAnother ? pick([Self.texts, Self.numbers, ["true", "false"]]) : usual
            return "\"\(name)\":\(pick(values))"
        }
        return "{\(members.joined(separator: ","))}"
    }

    private static let words = [
        "", "a", "A", "b", "aa", "Apple", "apple", "äpfel", "Äpfel", "straße", "STRASSE", "ΣΊΣΥΦΟΣ",
        "σίσυφος", "😀", "a😀b", "%_", "O'Neil", " space ", "\u{3000}wide", "z", "Z", "\u{e9}",
        "e\u{301}", "10", "9", "1.5", "-2.5", "-0", "05", "1.0", "1e2", "100", "0.1", "true",
        "null", "\u{FFFD}", "\u{10FFFF}", "2027-01-01T00:00:00Z",
        "0f8fad5b-d9cb-469f-a165-70867728950e", "0F8FAD5B-D9CB-469F-A165-70867728950E",
        // As long as the key of an index, and longer.
        String(repeating: "ä", count: 80), String(repeating: "ä", count: 81),
        String(repeating: "ä", count: 90) + "b",
    ]
    private static let texts = words.map { JSONText.string($0).text }
    private static let numbers = [
        "0", "-0", "0.0", "1", "1.0", "1.5", "-1.5", "2.5", "-2.5", "10", "9", "100", "1e2", "1.10",
        "0.1", "0.30000000000000004", "9007199254740992", "9007199254740993", "9007199254740993.0",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e300", "1e400",
        "-1e400", "5e-324", "1e-400", "123456789.123456789", "1152921504606846976",
        "1152921504606846976.0",
    ]
    private static let moments = [
        "2027-01-01T00:00:00Z", "2027-01-01T00:00:00.000Z", "2027-01-01T01:00:00+01:00",
        "2026-12-31T23:59:59.9999999Z", "2024-02-29T12:34:56.789Z", "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59.9999999Z", "1969-07-20T20:17:40Z", "2027-01-01",
    ]
    /// Dates in every form that filters read, whose texts are in another order than their instants.
    private static let written = [
        "2027-01-01T00:00:00.5Z", "2026-12-31T19:00:00-05:00", "2027-01-01T14:00:00.0000001+14:00",
        "2027-01-01 00:00", "2026-12-31t23:59:59.99999999z", "2027-01-01T02:30:00+0230",
        "/Date(1798761600000)/", "/Date(-14182940000+0100)/", "/Date(x)/", "2027-02-30",
        "2027-01-01T",
        "2027-01-0", "0001-01-01T00:00:00+01:00", "2027/01/01",
    ]
    private static let dates =
        (moments + written).map { "\"\($0)\"" } + [
            "\"09:52:35.321\"", "\"23:59:59\"", "\"no date\"",
        ]
    private static let arrays = [
        "[]", "[1,2,3]", #"["a","b"]"#, #"["A",null,1.5,true]"#, #"[{"x":1},{"x":"a"},{}]"#,
    ]
    private static let objects = [
        "{}", #"{"x":1}"#, #"{"x":"a","y":{"z":true}}"#, #"{"x":null,"y":{"z":2.5}}"#,
        #"{"x":"2027-01-01T00:00:00Z"}"#,
    ]

    // MARK: Queries

    /// A query on a table.
    mutating func query(_ table: TableName) -> RowQuery {
        var query = RowQuery(table: table)
        if !isOne(in: 8) {
            query.filter = RowFilter(
                scope: isOne(in: 8) ? scope() : nil, condition: condition(depth: 3))
        }
        query.orderBy = (0..<Int.random(in: 0...2, using: &random)).map { _ in
            Ordering(orderTerm(), descending: isOne(in: 2))
        }
        if isOne(in: 6) { query.lastOrder = .insertion }
        query.skip = isOne(in: 3) ? Int.random(in: 1...5, using: &random) : 0
        query.limit = isOne(in: 3) ? Int.random(in: 0...10, using: &random) : .max
        query.includesDeleted = isOne(in: 3)
        query.counts = isOne(in: 2)
        query.nulls = pick(NullComparison.allCases)
        query.isExact = isOne(in: 5)
        return query
    }

    /// What a row has to be before a condition looks at it.
    private mutating func scope() -> Expression {
        .binary(
            .equal, Self.user(pick(["text", "OTHER"])),
            .literal(.string(pick(["a", "A", "", "z"]))))
    }

    private static func user(_ path: String...) -> Expression { .column(.user(path: path)) }

    private mutating func column() -> Expression {
        pick([
            Self.user("text"), Self.user("other"), Self.user("n"), Self.user("m"),
            Self.user("done"), Self.user("at"), Self.user("till"), Self.user("o", "x"),
            Self.user("o", "y", "z"), Self.user("missing"), Self.user("TEXT"),
        ])
    }

    /// A column whose arrays and objects do not come into play: their order is not the same.
    private mutating func orderTerm() -> Expression {
        isOne(in: 3)
            ? pick([
                .column(.id), .column(.system(.updatedAt)), .column(.system(.createdAt)),
                .column(.system(.deleted)), .call(.length, [Self.user("text")]),
                .call(.toLower, [Self.user("text")]), .call(.year, [Self.user("at")]),
                .call(.floor, [Self.user("n")]),
                .binary(.add, Self.user("n"), .literal(.number(NumberLiteral(1)))),
            ]) : column()
    }

    private mutating func condition(depth: Int) -> Expression {
        if depth > 0, isOne(in: 2) {
            if isOne(in: 3) { return .unary(.not, condition(depth: depth - 1)) }
            let operation = pick(Expression.LogicalOperator.allCases)
            let operands = (0..<Int.random(in: 2...3, using: &random)).map { _ in
                condition(depth: depth - 1)
            }
            return Expression.joined(operation, operands) ?? operands[0]
        }
        switch Int.random(in: 0..<11, using: &random) {
        case 0:
            return .call(
                pick([.contains, .startsWith, .endsWith]),
                [text(), .literal(.string(pick(Self.words)))])
        case 1: return .inList(column(), (0..<3).map { _ in literal() })
        case 2: return pick([column(), .literal(.boolean(isOne(in: 2)))])
        case 3: return comparison(text(), .literal(.string(pick(Self.words))))
        case 4: return comparison(number(), .literal(constant()))
        case 5: return comparison(column(), column())
        case 6: return comparison(.column(.system(pick([.updatedAt, .createdAt]))), stamp())
        case 7:
            return comparison(.column(.id), .literal(.string(pick(["a", "r3", "r5", "R7", ""]))))
        default: return comparison(column(), .literal(literal()))
        }
    }

    private mutating func comparison(_ left: Expression, _ right: Expression) -> Expression {
        let operation = pick([
            Expression.BinaryOperator.equal, .notEqual, .greaterThan, .greaterOrEqual, .lessThan,
            .lessOrEqual,
        ])
        return isOne(in: 5)
            ? .binary(operation, right, left) : .binary(operation, left, right)
    }

    private mutating func stamp() -> Expression {
        let ticks = TableUnderTest.moment(0).ticks + Int64.random(in: 0...200_000, using: &random)
        return .literal(.instant(InstantLiteral(Instant(ticks: ticks))))
    }

    private mutating func text() -> Expression {
        let column = pick([Self.user("text"), Self.user("other"), .column(.id)])
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return .call(.toLower, [column])
        case 1: return .call(.toUpper, [column])
        case 2: return .call(.trim, [column])
        case 3: return .call(.concat, [column, .literal(.string(pick(Self.words)))])
        case 4: return .call(.substring, [column, .literal(.number(NumberLiteral(1)))])
        case 5:
            let words = (0..<2).map { _ in Expression.literal(.string(pick(Self.words))) }
            return .call(.replace, [column] + words)
        default: return column
        }
    }

    private mutating func number() -> Expression {
        let column = pick([Self.user("n"), Self.user("m")])
        let moment = pick([
            Self.user("at"), Self.user("till"), .column(.system(.updatedAt)), Self.user("text"),
        ])
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return .call(.length, [text()])
        case 1: return .call(.indexOf, [text(), .literal(.string(pick(Self.words)))])
        case 2: return .call(pick([.round, .floor, .ceiling]), [column])
        case 3: return .call(pick([.year, .month, .day, .hour, .minute, .second]), [moment])
        case 4:
            return .binary(pick([.add, .sub, .mul, .div, .mod]), column, .literal(constant()))
        case 5: return .call(.count, [Self.user("tags")])
        case 6: return .unary(.negate, column)
        default: return column
        }
    }

    private mutating func constant() -> Expression.Literal {
        let values: [Int64] = [0, 1, -1, 2, 3, 10, 100, 9_007_199_254_740_993, .max]
        if isOne(in: 2) { return .number(NumberLiteral(pick(values))) }
        let texts = ["1.5", "0.1", "-2.5", "1e2", "9007199254740993.0", "1e300", "1.0"]
        let parsed = try? Expression(parsing: "n eq \(pick(texts))", generation: .datasync)
        guard case .binary(_, _, .literal(let literal))? = parsed else { return .null }
        return literal
    }

    private mutating func literal() -> Expression.Literal {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return .null
        case 1: return .boolean(isOne(in: 2))
        case 2, 3: return constant()
        case 4: return InstantLiteral(pick(Self.moments)).map { .instant($0) } ?? .null
        case 5:
            return pick([
                .guid("0f8fad5b-d9cb-469f-a165-70867728950e"),
                TimeLiteral("09:52:35.321").map { .time($0) } ?? .null,
                DateLiteral("2027-01-01").map { .date($0) } ?? .null,
            ])
        default: return .string(pick(Self.words))
        }
    }
}
