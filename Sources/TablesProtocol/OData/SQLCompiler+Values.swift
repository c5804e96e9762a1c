extension SQLCompiler {
    /// 1, 0, or null for what is no truth.
    func truth(_ expression: Expression) -> SQLFragment {
        switch expression {
        case .column(.user):
            SQLFragment(
                "CASE \(jsonType(expression).text) WHEN 'true' THEN 1 WHEN 'false' THEN 0 END")
        case .column(.system(.deleted)): sql("deleted")
        case .column: .null
        case .literal, .unary, .binary, .logical, .call, .inList: condition(expression)
        }
    }

    /// A number, or null for what is none.
    func number(_ expression: Expression) -> SQLFragment {
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
        case .binary(let operation, let left, let right) where operation.isArithmetic:
            return number(left).infix(operation.sql, number(right))
        case .call(let function, let arguments):
            return number(function, arguments)
        case .literal, .column, .unary, .binary, .logical, .inList:
            return .null
        }
    }

    /// A constant number. What is not whole is converted by SQLite, as the numbers in the rows are;
    /// the sign `+` keeps the cast from converting what it is compared with.
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
        case .startsWith, .endsWith, .contains, .toLower, .toUpper, .trim, .substring, .concat,
            .replace:
            return .null
        }
    }

    /// A text, or null for what is none; a text with U+0000 is a blob.
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
            .minute, .second, .round, .floor, .ceiling:
            return .null
        }
    }

    /// An instant in ticks of 100 ns since year 1, or null for what is none.
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

    /// The instant that a constant stands for; a string may hold one as well.
    func constantInstant(_ expression: Expression) -> Instant? {
        switch expression {
        case .literal(.instant(let literal)): literal.instant
        case .literal(.date(let literal)): literal.instant
        case .literal(.string(let text)): Instant(parsing: text)
        case .literal, .column, .unary, .binary, .logical, .call, .inList: nil
        }
    }

    /// A time of day in ticks since midnight, or null for what is none.
    func time(_ expression: Expression) -> SQLFragment {
        switch expression {
        case .literal(.time(let literal)): .bound(.integer(literal.ticks))
        case .column(.user): .call("odata_time", json(expression))
        case .literal, .column, .unary, .binary, .logical, .call, .inList:
            .call("odata_time", text(expression))
        }
    }

    /// What has a year or an hour: ticks, or the text of a date or time.
    private func moment(_ expression: Expression) -> SQLFragment {
        switch kind(of: expression) {
        case .instant: instant(expression)
        case .time: time(expression)
        case .json, .text: text(expression)
        case .null, .boolean, .number, .guid: .null
        }
    }
}
