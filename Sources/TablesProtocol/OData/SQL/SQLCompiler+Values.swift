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

// `cast` and `isof`. A value that cannot be cast is null, like a value of another type.
extension SQLCompiler {
    /// A boolean, or a text that is `true` or `false`.
    func castBoolean(_ value: Expression) -> SQLFragment {
        switch kind(of: value) {
        case .boolean:
            return boolean(value)
        case .text:
            return .call("odata_boolean", text(value))
        case .json:
            let parsed = SQLFragment.call("odata_boolean", text(value))
            return SQLFragment("ifnull(\(boolean(value).text), \(parsed.text))", parsed.arguments)
        case .null, .number, .guid, .instant, .time, .duration, .place:
            return .null
        }
    }

    /// A number, or a text that is a number, without its fraction if the type is an integer.
    func castNumber(_ value: Expression, _ type: EdmType) -> SQLFragment {
        let number: SQLFragment
        switch kind(of: value) {
        case .number: number = self.number(value)
        case .text: number = text(value)
        case .json: number = json(value, ofTypes: "'integer','real','text'")
        case .null, .boolean, .guid, .instant, .time, .duration, .place: return .null
        }
        guard let range = type.range else { return .call("odata_real", number) }
        return .call(
            "odata_integer", number, .bound(.integer(range.lowerBound)),
            .bound(.integer(range.upperBound)))
    }

    /// A value as text in JSON's form. As a GUID: only a text that is a GUID.
    func castText(_ value: Expression, _ type: EdmType) -> SQLFragment {
        if type == .guid { return .call("odata_guid", text(value)) }
        switch kind(of: value) {
        case .json:
            return jsonPlace(value).map { SQLFragment("odata_string(\($0.text))") } ?? .null
        case .text, .guid:
            return text(value)
        case .boolean:
            let boolean = boolean(value)
            return SQLFragment(
                "CASE \(boolean.text) WHEN 1 THEN 'true' WHEN 0 THEN 'false' END", boolean.arguments
            )
        case .number:
            let number = number(value)
            return SQLFragment("CAST(\(number.text) AS TEXT)", number.arguments)
        case .instant:
            return .call("odata_instanttext", instant(value))
        case .time:
            return .call("odata_timetext", time(value))
        case .duration:
            return .call("odata_durationtext", duration(value))
        case .null, .place:
            return .null
        }
    }

    /// Whether a value has a type: 1 or 0. In JSON, dates, times, GUIDs and bytes are texts of their form.
    func typeTest(_ value: Expression, _ type: EdmType) -> SQLFragment {
        guard kind(of: value) == .json else {
            let isOfKind = kind(of: value) == kind(of: type)
            return test("\(isOfKind ? "1" : "0")", self.value(value))
        }
        switch type {
        case .string:
            return test("\(jsonType(value).text) = 'text'", nil)
        case .boolean:
            return test("\(jsonType(value).text) IN ('true','false')", nil)
        case .decimal, .double, .single:
            return test("\(jsonType(value).text) IN ('integer','real')", nil)
        case .byte, .int16, .int32, .int64:
            return test("\(jsonType(value).text) = 'integer'", castNumber(value, type))
        case .guid:
            return test("1", castText(value, .guid))
        case .binary:
            return test("1", .call("odata_binary", text(value)))
        case .date:
            return test("length(\(json(value).text)) = 10", instant(value))
        case .dateTime, .dateTimeOffset:
            return test("length(\(json(value).text)) > 10", instant(value))
        case .time, .timeOfDay:
            return test("1", time(value))
        case .duration:
            return test("1", duration(value))
        }
    }

    private func test(_ condition: String, _ value: SQLFragment?) -> SQLFragment {
        guard let value else { return SQLFragment("((\(condition)) IS 1)") }
        return SQLFragment(
            "((\(condition) AND \(value.text) IS NOT NULL) IS 1)", value.arguments)
    }
}

extension EdmType {
    /// The integers of the type; nil for types with a fraction and for types that are not numbers.
    var range: ClosedRange<Int64>? {
        switch self {
        case .byte: 0...255
        case .int16: Int64(Int16.min)...Int64(Int16.max)
        case .int32: Int64(Int32.min)...Int64(Int32.max)
        case .int64: Int64.min...Int64.max
        case .binary, .boolean, .date, .dateTime, .dateTimeOffset, .decimal, .double, .duration,
            .guid, .single, .string, .time, .timeOfDay:
            nil
        }
    }
}

extension SQLCompiler {
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
            return constantInstant(expression).map { .bound(.integer($0.ticks)) }
                ?? computedInstant(expression)
        case .null, .boolean, .number, .guid, .time, .duration, .place: return .null
        }
    }

    /// The instant of a constant, also of a string that contains one; nil for other expressions.
    func constantInstant(_ expression: Expression) -> Instant? {
        switch expression {
        case .literal(.instant(let literal)): literal.instant
        case .literal(.date(let literal)): literal.instant
        case .literal(.string(let text)): Instant(parsing: text)
        case .call(.now, _): now
        case .call(.minDateTime, _): .earliest
        case .call(.maxDateTime, _): .latest
        case .literal, .column, .unary, .binary, .logical, .call, .inList, .cast, .isOf,
            .quantified,
            .variable:
            nil
        }
    }

    private func computedInstant(_ expression: Expression) -> SQLFragment {
        switch expression {
        case .call(.date, let arguments): .call("odata_date", moment(arguments[0]))
        case .cast(let value, .date): .call("odata_date", instant(value))
        case .cast(let value, _): instant(value)
        case .binary(let operation, let left, let right) where kind(of: left) == .duration:
            duration(left).infix(operation.sql, instant(right))
        case .binary(let operation, let left, let right):
            instant(left).infix(operation.sql, duration(right))
        case .literal, .column, .unary, .logical, .call, .inList, .isOf, .quantified, .variable:
            .null
        }
    }

    /// A time of day in ticks since midnight; null for other values.
    func time(_ expression: Expression) -> SQLFragment {
        switch expression {
        case .literal(.time(let literal)): .bound(.integer(literal.ticks))
        case .column(.user), .variable: .call("odata_time", json(expression))
        case .call(.time, let arguments): .call("odata_timeofday", moment(arguments[0]))
        case .cast(let value, let type) where kind(of: type) == .time:
            .call("odata_timeofday", moment(value))
        case .literal, .column, .unary, .binary, .logical, .call, .inList, .cast, .isOf,
            .quantified:
            .call("odata_time", text(expression))
        }
    }

    /// A duration in ticks; null for other values.
    func duration(_ expression: Expression) -> SQLFragment {
        switch kind(of: expression) {
        case .json: return .call("odata_duration", json(expression))
        case .text: return .call("odata_duration", text(expression))
        case .duration: return computedDuration(expression)
        case .null, .boolean, .number, .guid, .instant, .time, .place: return .null
        }
    }

    private func computedDuration(_ expression: Expression) -> SQLFragment {
        switch expression {
        case .literal(.duration(let literal)):
            return .bound(.integer(literal.ticks))
        case .unary(_, let operand):
            let inner = duration(operand)
            return SQLFragment("(- \(inner.text))", inner.arguments)
        case .cast(let value, _):
            return duration(value)
        case .binary(let operation, let left, let right):
            let isLeft = kind(of: left) == .duration
            switch operation {
            case .add:
                return duration(left).infix("+", duration(right))
            case .sub:
                return isLeft
                    ? duration(left).infix("-", duration(right))
                    : instant(left).infix("-", instant(right))
            case .mul:
                return isLeft
                    ? duration(left).infix("*", number(right))
                    : number(left).infix("*", duration(right))
            case .div, .divBy:
                return duration(left).infix("/", number(right))
            case .equal, .notEqual, .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual, .mod,
                .has:
                return .null
            }
        case .literal, .column, .logical, .call, .inList, .isOf, .quantified, .variable:
            return .null
        }
    }

    /// A value with a year or an hour: ticks, or the text of a date or time.
    func moment(_ expression: Expression) -> SQLFragment {
        switch kind(of: expression) {
        case .instant: instant(expression)
        case .time: time(expression)
        case .json, .text: text(expression)
        case .null, .boolean, .number, .guid, .duration, .place: .null
        }
    }

    /// The offset from UTC, in minutes, with which a date was written. `createdAt` and `updatedAt` are in
    /// UTC.
    func offset(_ expression: Expression) -> SQLFragment {
        switch expression {
        case .literal(.instant(let literal)):
            return .call("odata_offset", .bound(.text(literal.text)))
        case .literal, .column, .unary, .binary, .logical, .call, .inList, .cast, .isOf,
            .quantified,
            .variable:
            switch kind(of: expression) {
            case .json, .text:
                return .call("odata_offset", text(expression))
            case .instant:
                let ticks = instant(expression)
                return SQLFragment(
                    "CASE WHEN \(ticks.text) IS NOT NULL THEN 0 END", ticks.arguments)
            case .null, .boolean, .number, .guid, .time, .duration, .place:
                return .null
            }
        }
    }
}
