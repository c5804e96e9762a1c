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

    /// `contains`, `startswith` and `endswith`. They compare bytes, so that
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
        case .length, .toLower, .toUpper, .trim, .indexOf, .substring, .concat, .replace, .year,
            .month, .day, .hour, .minute, .second, .fractionalSeconds, .totalOffsetMinutes,
            .totalSeconds, .date, .time, .now, .minDateTime, .maxDateTime, .round, .floor, .ceiling,
            .geoDistance, .count:
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

extension SQLCompiler {
    /// SQL for a value in the JSON of a row.
    struct JSONPlace {
        /// The value as SQLite extracts it: booleans as 1 and 0, arrays and objects as their text.
        let value: String
        /// Its JSON type; null if there is no such value.
        let type: String
        let text: String
    }

    /// A column of the schema, with its alias.
    func sql(_ name: String) -> SQLFragment {
        SQLFragment(schema.alias.map { "\(JSONPath.identifier($0)).\(name)" } ?? name)
    }

    /// The SQL of a user's column or a lambda's variable; nil for other expressions, and for names that
    /// SQLite cannot express.
    func jsonPlace(_ expression: Expression) -> JSONPlace? {
        switch expression {
        case .column(.user(let path)):
            let spelled = path.enumerated().map { $0 == 0 ? spelling($1) : $1 }
            return Self.jsonPlace(in: sql("columns").text, spelled)
        case .variable(let variable):
            guard let element = variables[variable.name] else { return nil }
            guard !variable.path.isEmpty else {
                return JSONPlace(
                    value: element.value, type: element.type,
                    text: "\(element.source) -> \(element.key)")
            }
            return Self.jsonPlace(
                in: "CASE WHEN \(element.type) = 'object' THEN \(element.value) END", variable.path)
        case .column, .literal, .unary, .binary, .logical, .call, .inList, .cast, .isOf,
            .quantified:
            return nil
        }
    }

    private static func jsonPlace(in json: String, _ path: [String]) -> JSONPlace? {
        JSONPath.constant(path).map { path in
            JSONPlace(
                value: "json_extract(\(json),\(path))", type: "json_type(\(json),\(path))",
                text: "\(json.hasPrefix("CASE") ? "(\(json))" : json) -> \(path)")
        }
    }

    /// The value of a user's column as SQLite extracts it: booleans as 1 and 0.
    func json(_ expression: Expression) -> SQLFragment {
        jsonPlace(expression).map { SQLFragment($0.value) } ?? .null
    }

    /// The JSON type of a user's column; null for a JSON null.
    func jsonType(_ expression: Expression) -> SQLFragment {
        jsonPlace(expression).map { SQLFragment("nullif(\($0.type),'null')") } ?? .null
    }

    /// The whole text of a user's column. `json_extract` would stop at U+0000.
    func wholeText(_ expression: Expression) -> SQLFragment {
        jsonPlace(expression).map { SQLFragment("odata_text(\($0.text))") } ?? .null
    }

    /// Whether no text of the row contains U+0000.
    var hasNoZero: String { "instr(\(sql("columns").text),'\\u0000') = 0" }

    /// The value of a user's column if it has one of these JSON types, else null.
    func json(_ expression: Expression, ofTypes types: String) -> SQLFragment {
        guard let place = jsonPlace(expression) else { return .null }
        return SQLFragment(
            "CASE WHEN \(jsonType(expression).text) IN (\(types)) THEN \(place.value) END")
    }

    /// The class of a JSON type within which values are comparable: 1 text, 2 number, 3 boolean.
    func jsonClass(_ expression: Expression) -> SQLFragment {
        SQLFragment(
            """
            CASE \(jsonType(expression).text) WHEN 'text' THEN 1 WHEN 'integer' THEN 2 \
            WHEN 'real' THEN 2 WHEN 'true' THEN 3 WHEN 'false' THEN 3 END
            """)
    }

    /// `createdAt` or `updatedAt` in milliseconds since 1970; nil for other expressions.
    func stamp(_ expression: Expression) -> SQLFragment? {
        switch expression {
        case .column(.system(.createdAt)): sql("created_at")
        case .column(.system(.updatedAt)): sql("stamp")
        case .literal, .column, .unary, .binary, .logical, .call, .inList, .cast, .isOf,
            .quantified,
            .variable:
            nil
        }
    }

    /// The SQL names of the `json_each` row of a lambda's element.
    struct Element {
        let value: String
        let type: String
        /// Its path in the source.
        let key: String
        /// The JSON that the path is relative to.
        let source: String
    }

    /// `any` and `all` over an array: 1 or 0. A value that is not an array has no elements.
    func quantified(
        _ quantifier: Expression.Quantifier, _ collection: Expression,
        _ lambda: Expression.Lambda?
    ) -> SQLFragment {
        guard let array = jsonPlace(collection) else {
            return SQLFragment(quantifier == .all ? "1" : "0")
        }
        // Own names, because those of `json_each`, such as `id`, would hide the table's columns.
        let number = variables.count + 1
        let source = "CASE WHEN \(array.type) = 'array' THEN \(array.text) END"
        let element = Element(
            value: "each\(number)_value", type: "each\(number)_type", key: "each\(number)_key",
            source: "each\(number)_source")
        let rows = """
            (SELECT value AS \(element.value), type AS \(element.type), fullkey AS \(element.key), \
            \(source) AS \(element.source) FROM json_each(\(source)))
            """
        guard let lambda else { return SQLFragment("EXISTS (SELECT 1 FROM \(rows))") }
        var inner = exact
        inner.variables[lambda.variable] = element
        let condition = inner.condition(lambda.condition)
        switch quantifier {
        case .any:
            return SQLFragment(
                "EXISTS (SELECT 1 FROM \(rows) WHERE \(condition.text))", condition.arguments)
        case .all:
            return SQLFragment(
                "NOT EXISTS (SELECT 1 FROM \(rows) WHERE (\(condition.text)) IS NOT 1)",
                condition.arguments)
        }
    }

    /// The number of elements of an array.
    func count(_ collection: Expression) -> SQLFragment {
        guard let array = jsonPlace(collection) else { return SQLFragment("0") }
        return SQLFragment(
            "CASE WHEN \(array.type) = 'array' THEN json_array_length(\(array.text)) ELSE 0 END")
    }
}
