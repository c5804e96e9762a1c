extension SQLCompiler {
    /// Compares texts byte by byte.
    func textComparison(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) -> SQLFragment {
        guard kind(of: left) == .json, case .literal = right else {
            return text(left).infix(operation.sql, text(right))
        }
        let wanted = text(right)
        if case .blob? = wanted.arguments.first {
            return wholeText(left).infix(operation.sql, wanted)
        }
        // `json_extract` stops at U+0000, so a row that contains one is compared again with the whole text.
        // A date and the text that it is ordered by begin with a digit or "/". A text above both is compared
        // alike with either.
        let isAboveDates = wanted.arguments.first?.string?.utf8.first ?? 0 > UInt8(ascii: "9")
        let compared =
            (isAboveDates ? rangeKey(operation, left) : json(left)).infix(operation.sql, wanted)
        switch operation {
        case .equal:
            let whole = wholeText(left).infix("=", wanted)
            return compared.infix("AND", SQLFragment(hasNoZero).infix("OR", whole))
        case .notEqual:
            let whole = wholeText(left).infix("<>", wanted)
            return compared.infix("OR", SQLFragment("NOT \(hasNoZero)").infix("AND", whole))
        case .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual, .add, .sub, .mul, .div, .divBy,
            .mod, .has:
            return compared.infix("AND", jsonType(left).infix("=", SQLFragment("'text'")))
        }
    }

    /// `x in (…)`: SQL's `IN` if all constants are texts or all are integers.
    func membership(_ value: Expression, _ literals: [Expression.Literal]) -> SQLFragment {
        let found = found(value, literals)
        return nulls == .decided && isExact ? found.infix("IS", SQLFragment("1")) : found
    }

    private func found(_ value: Expression, _ literals: [Expression.Literal]) -> SQLFragment {
        let texts = literals.compactMap(Self.plainText)
        let numbers = literals.compactMap(Self.wholeNumber)
        switch kind(of: value) {
        case .json where texts.count == literals.count && !texts.isEmpty:
            let list = Self.list(texts)
            let whole = wholeText(value).infix("IN", list)
            return json(value).infix("IN", list)
                .infix("AND", SQLFragment(hasNoZero).infix("OR", whole))
        case .text where texts.count == literals.count && !texts.isEmpty:
            return text(value).infix("IN", Self.list(texts))
        case .json where numbers.count == literals.count && !numbers.isEmpty:
            let types = SQLFragment("('integer','real','text')")
            let written = literals.compactMap(Self.writtenText)
            return json(value).infix("IN", Self.list(numbers + written))
                .infix("AND", jsonType(value).infix("IN", types))
        case .null, .json, .boolean, .number, .text, .guid, .instant, .time, .duration, .place:
            let tests = literals.map { comparison(.equal, value, .literal($0)) }
            return tests.isEmpty ? SQLFragment("0") : .chain(tests, "OR")
        }
    }

    private static func plainText(_ literal: Expression.Literal) -> SQLValue? {
        guard case .string(let text) = literal, !text.utf8.contains(0) else { return nil }
        return .text(text)
    }

    private static func writtenText(_ literal: Expression.Literal) -> SQLValue? {
        guard case .number(let number) = literal else { return nil }
        return number.writtenText.map { .text($0) }
    }

    private static func wholeNumber(_ literal: Expression.Literal) -> SQLValue? {
        guard case .number(let number) = literal else { return nil }
        return number.integer.map { .integer($0) }
    }

    private static func list(_ values: [SQLValue]) -> SQLFragment {
        SQLFragment("(\(values.map { _ in "?" }.joined(separator: ",")))", values)
    }

    /// `matchesPattern`, `contains`, `startswith` and `endswith`. The last three compare bytes, so that
    /// `%`, `_` and U+0000 have no special meaning.
    func test(_ function: Expression.Function, _ arguments: [Expression]) -> SQLFragment {
        guard kind(of: .call(function, arguments)) == .boolean, arguments.count == 2 else {
            return .null
        }
        let isShort = Self.isShort(arguments[1])
        let found = SQLFragment.call("instr", blob(arguments[0]), blob(arguments[1]))
        switch function {
        case .contains where !isShort:
            return .call("odata_contains", arguments.map(text))
        case .startsWith where !isShort:
            return .call("odata_startswith", arguments.map(text))
        case .contains:
            return found.infix(">", SQLFragment("0"))
        case .startsWith:
            return found.infix("=", SQLFragment("1"))
        case .endsWith:
            // `substr` would do, but it makes null of an empty blob.
            return .call("odata_endswith", arguments.map(text))
        case .matchesPattern:
            return .call("odata_matches", arguments.map(text))
        case .length, .toLower, .toUpper, .trim, .indexOf, .substring, .concat, .replace, .year,
            .month, .day, .hour, .minute, .second, .fractionalSeconds, .totalOffsetMinutes,
            .totalSeconds, .date, .time, .now, .minDateTime, .maxDateTime, .round, .floor, .ceiling,
            .geoDistance, .geoLength, .count:
            return .null
        }
    }

    /// Whether SQLite's own `instr` may search for the text.
    private static func isShort(_ part: Expression) -> Bool {
        guard case .literal(.string(let text)) = part else { return false }
        return text.utf8.count <= Limits.nativeSearchBytes
    }

    private func blob(_ expression: Expression) -> SQLFragment {
        if case .literal(.string(let text)) = expression {
            return .bound(.blob(Array(text.utf8)))
        }
        let text = text(expression)
        return SQLFragment("CAST(\(text.text) AS BLOB)", text.arguments)
    }
}
