extension SQLCompiler {
    /// 1 or 0; null for a value that is not a boolean.
    func boolean(_ expression: Expression) -> SQLFragment {
        switch expression {
        case .column(.user), .variable:
            SQLFragment(
                "CASE \(jsonType(expression).text) WHEN 'true' THEN 1 WHEN 'false' THEN 0 END")
        case .column(.system(.deleted)): sql("deleted")
        case .column: .null
        case .cast(let value, .boolean): castBoolean(value)
        case .literal, .unary, .binary, .logical, .call, .inList, .cast, .isOf, .quantified:
            exact.condition(expression)
        }
    }

    /// A number; null for other values.
    func number(_ expression: Expression) -> SQLFragment {
        guard kind(of: expression) == .number || kind(of: expression) == .json else { return .null }
        switch expression {
        case .literal(.number(let number)):
            return constant(number)
        case .column(.user), .variable:
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
        case .cast(let value, let type):
            return castNumber(value, type)
        case .literal, .column, .unary, .binary, .logical, .inList, .isOf, .quantified:
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
        case .year, .month, .day, .hour, .minute, .second, .fractionalSeconds:
            return .call(name, arguments.map(moment))
        case .totalOffsetMinutes:
            return offset(arguments[0])
        case .totalSeconds:
            let ticks = duration(arguments[0])
            return SQLFragment("(\(ticks.text) / \(Instant.ticksPerSecond).0)", ticks.arguments)
        case .round, .floor, .ceiling:
            return .call(name, arguments.map(number))
        case .geoDistance:
            return .call("odata_distance", arguments.map(place) + [space(of: arguments)])
        case .count:
            return count(arguments[0])
        case .startsWith, .endsWith, .contains, .toLower, .toUpper, .trim,
            .substring, .concat, .replace, .date, .time, .now, .minDateTime, .maxDateTime:
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
        case .column(.user), .variable:
            let type = jsonType(expression).text
            let short = json(expression).text
            return SQLFragment(
                """
                CASE WHEN \(type) = 'text' THEN \
                CASE WHEN \(hasNoZero) THEN \(short) ELSE \(wholeText(expression).text) END END
                """)
        case .call(let function, let arguments):
            return text(function, arguments)
        case .cast(let value, let type):
            return castText(value, type)
        case .literal, .column, .unary, .binary, .logical, .inList, .isOf, .quantified:
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
        case .startsWith, .endsWith, .contains, .length, .indexOf, .year, .month,
            .day, .hour, .minute, .second, .fractionalSeconds, .totalOffsetMinutes, .totalSeconds,
            .date, .time, .now, .minDateTime, .maxDateTime, .round, .floor, .ceiling, .geoDistance,
            .count:
            return .null
        }
    }

    /// A point or a line as GeoJSON or well-known text; null for other values.
    func place(_ expression: Expression) -> SQLFragment {
        if case .literal(.geo(let place)) = expression {
            return .bound(.text(place.shape.geoJSON))
        }
        switch kind(of: expression) {
        case .json: return json(expression, ofTypes: "'object','text'")
        case .text: return text(expression)
        case .null, .boolean, .number, .guid, .instant, .time, .duration, .place: return .null
        }
    }

    /// 1 if a constant is on a plane; else 0, which means on the globe.
    private func space(of places: [Expression]) -> SQLFragment {
        let isPlane = places.contains { place in
            if case .literal(.geo(let literal)) = place { return literal.space == .geometry }
            return false
        }
        return .bound(.integer(isPlane ? 1 : 0))
    }
}
