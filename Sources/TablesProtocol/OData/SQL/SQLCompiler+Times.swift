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
