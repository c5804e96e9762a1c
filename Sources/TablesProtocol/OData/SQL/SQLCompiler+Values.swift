extension SQLCompiler {
    /// 1 or 0; null for a value that is not a boolean.
    func boolean(_ expression: Expression) -> SQLFragment {
        switch expression {
        case .column(.user):
            SQLFragment(
                "CASE \(jsonType(expression).text) WHEN 'true' THEN 1 WHEN 'false' THEN 0 END")
        case .column(.system(.deleted)): sql("deleted")
        case .column: .null
        case .literal, .unary, .binary, .logical, .call, .inList: exact.condition(expression)
        }
    }

    /// A number; null for other values.
    func number(_ expression: Expression) -> SQLFragment {
        guard kind(of: expression) == .number || kind(of: expression) == .json else { return .null }
        switch expression {
        case .literal(.number(let number)):
            return constant(number)
        case .column(.user):
            return json(expression, ofTypes: "'integer','real'")
        case .column(.id) where schema.hasIntegerIDs:
            return SQLFragment("CAST(\(sql("id").text) AS INTEGER)")
        case .unary(.negate, let operand):
            let inner = number(operand)
            return SQLFragment("(- \(inner.text))", inner.arguments)
        case .binary(.mod, let left, let right):
            return .call("odata_mod", number(left), number(right))
        case .binary(.divBy, let left, let right):
            let dividend = number(left)
            return SQLFragment("CAST(\(dividend.text) AS REAL)", dividend.arguments)
                .infix("/", number(right))
        case .binary(let operation, let left, let right) where operation.isArithmetic:
            return number(left).infix(operation.sql, number(right))
        case .call(let function, let arguments):
            return number(function, arguments)
        case .literal, .column, .unary, .binary, .logical, .inList:
            return .null
        }
    }

    /// A constant number. SQLite converts a fraction, as it does with the numbers in rows. The sign `+`
    /// keeps the cast from converting the other operand.
    func constant(_ number: NumberLiteral) -> SQLFragment {
        if let integer = number.integer { return .bound(.integer(integer)) }
        return SQLFragment("+CAST(? AS REAL)", [.text(number.text)])
    }

    private func number(
        _ function: Expression.Function, _ arguments: [Expression]
    ) -> SQLFragment {
        let name = "odata_\(function.rawValue)"
        switch function {
        case .length, .indexOf:
            return .call(name, arguments.map(text))
        case .year, .month, .day, .hour, .minute, .second:
            return .call(name, arguments.map(moment))
        case .round, .floor, .ceiling:
            return .call(name, arguments.map(number))
        case .count:
            return count(arguments[0])
        case .startsWith, .endsWith, .contains, .toLower, .toUpper, .trim, .substring, .concat,
            .replace:
            return .null
        }
    }

    /// A text; null for other values. A text with U+0000 is a blob.
    func text(_ expression: Expression) -> SQLFragment {
        switch expression {
        case .literal(.string(let text)), .literal(.guid(let text)):
            return .bound(SQLValue(text))
        case .literal(.binary(let bytes)):
            return .bound(.text(Base64.encoded(bytes)))
        case .column(.id):
            return sql("id")
        case .column(.system(.version)):
            return sql("version")
        case .column(.user):
            let type = jsonType(expression).text
            let short = json(expression).text
            return SQLFragment(
                """
                CASE WHEN \(type) = 'text' THEN \
                CASE WHEN \(hasNoZero) THEN \(short) ELSE \(wholeText(expression).text) END END
                """)
        case .call(let function, let arguments):
            return text(function, arguments)
        case .literal, .column, .unary, .binary, .logical, .inList:
            return .null
        }
    }

    private func text(_ function: Expression.Function, _ arguments: [Expression]) -> SQLFragment {
        let name = "odata_\(function.rawValue)"
        switch function {
        case .toLower, .toUpper, .trim, .concat, .replace:
            return .call(name, arguments.map(text))
        case .substring:
            return .call(name, arguments.prefix(1).map(text) + arguments.dropFirst().map(number))
        case .startsWith, .endsWith, .contains, .length, .indexOf, .year, .month, .day, .hour,
            .minute, .second, .round, .floor, .ceiling, .count:
            return .null
        }
    }

    /// An instant in ticks of 100 ns since year 1; null for other values.
    func instant(_ expression: Expression) -> SQLFragment {
        if let stamp = stamp(expression) {
            return SQLFragment(
                "(\(stamp.text) * \(Instant.ticksPerMillisecond) + \(Instant.unixEpoch))")
        }
        switch kind(of: expression) {
        case .json: return .call("odata_instant", json(expression))
        case .text: return .call("odata_instant", text(expression))
        case .instant:
            return constantInstant(expression).map { .bound(.integer($0.ticks)) } ?? .null
        case .null, .boolean, .number, .guid, .time: return .null
        }
    }

    /// The instant of a constant, also of a string that contains one; nil for other expressions.
    package func constantInstant(_ expression: Expression) -> Instant? {
        switch expression {
        case .literal(.instant(let literal)): literal.instant
        case .literal(.date(let literal)): literal.instant
        case .literal(.string(let text)): Instant(parsing: text)
        case .literal, .column, .unary, .binary, .logical, .call, .inList: nil
        }
    }

    /// A time of day in ticks since midnight; null for other values.
    func time(_ expression: Expression) -> SQLFragment {
        switch expression {
        case .literal(.time(let literal)): .bound(.integer(literal.ticks))
        case .column(.user): .call("odata_time", json(expression))
        case .literal, .column, .unary, .binary, .logical, .call, .inList:
            .call("odata_time", text(expression))
        }
    }

    /// A value with a year or an hour: ticks, or the text of a date or time.
    private func moment(_ expression: Expression) -> SQLFragment {
        switch kind(of: expression) {
        case .instant: instant(expression)
        case .time: time(expression)
        case .json, .text: text(expression)
        case .null, .boolean, .number, .guid: .null
        }
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

    /// The SQL of a user's column; nil for other expressions, and for names that SQLite cannot express.
    func jsonPlace(_ expression: Expression) -> JSONPlace? {
        guard case .column(.user(let path)) = expression else { return nil }
        let spelled = path.enumerated().map { $0 == 0 ? spelling($1) : $1 }
        let json = sql("columns").text
        return JSONPath.constant(spelled).map { path in
            JSONPlace(
                value: "json_extract(\(json),\(path))", type: "json_type(\(json),\(path))",
                text: "\(json) -> \(path)")
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
    package func stamp(_ expression: Expression) -> SQLFragment? {
        switch expression {
        case .column(.system(.createdAt)): sql("created_at")
        case .column(.system(.updatedAt)): sql("stamp")
        case .literal, .column, .unary, .binary, .logical, .call, .inList:
            nil
        }
    }

    /// The number of elements of an array.
    func count(_ collection: Expression) -> SQLFragment {
        guard let array = jsonPlace(collection) else { return SQLFragment("0") }
        return SQLFragment(
            "CASE WHEN \(array.type) = 'array' THEN json_array_length(\(array.text)) ELSE 0 END")
    }
}
