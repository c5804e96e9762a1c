import TablesProtocol

extension PostgreSQLCompiler {
    /// `left eq right` and its like, as the client's generation decides them.
    func comparison(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) throws(Beyond) -> SQLFragment {
        guard types.nulls == .decided else { return try compared(operation, left, right) }
        switch operation {
        case .equal, .notEqual:
            let isEqual = operation == .equal
            if left.isNullLiteral || right.isNullLiteral {
                return try compared(operation, left, right)
            }
            if types.isConstant(left) || types.isConstant(right) {
                let fragment = try compared(operation, left, right)
                if !isEqual { return fragment.suffixed("IS NOT FALSE") }
                return isExact ? fragment.suffixed("IS TRUE") : fragment
            }
            let same = try same(left, right)
            return isEqual ? same : SQLFragment("(NOT \(same.text))", same.arguments)
        case .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual:
            let fragment = try compared(operation, left, right)
            return isExact ? fragment.suffixed("IS TRUE") : fragment
        case .add, .sub, .mul, .div, .divBy, .mod:
            return try compared(operation, left, right)
        }
    }

    /// Whether two values are equal, or both null.
    private func same(_ left: Expression, _ right: Expression) throws(Beyond) -> SQLFragment {
        let word = "IS NOT DISTINCT FROM"
        switch types.domain(types.kind(of: left), types.kind(of: right)) {
        case .json:
            guard let left = json(left), let right = json(right) else { throw Beyond() }
            return left.infix(word, right)
        case .guid: return try lowered(left).infix(word, lowered(right))
        case .null, nil: return SQLFragment("FALSE")
        case .boolean: return try truth(left).infix(word, truth(right))
        case .number: return try number(left).infix(word, number(right))
        case .text: return try text(left).infix(word, text(right))
        case .instant: return try instant(left).infix(word, instant(right))
        case .time: return try time(left).infix(word, time(right))
        }
    }

    /// A comparison with SQL's three values.
    func compared(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) throws(Beyond) -> SQLFragment {
        if operation.isArithmetic { return Self.noTruth }
        if right.isNullLiteral { return try nullTest(operation, left) }
        if left.isNullLiteral { return try nullTest(operation, right) }
        if case .literal(let literal) = right {
            if case .column(.id) = left, let fragment = try idComparison(operation, literal) {
                return fragment
            }
        } else if types.isConstant(left), !types.isConstant(right) {
            return try compared(operation.mirrored, right, left)
        }
        let kinds = (types.kind(of: left), types.kind(of: right))
        if kinds.0 == .json, case .literal = right, let value = json(left) {
            switch kinds.1 {
            case .boolean, .number, .text:
                return try constantComparison(operation, left, value, right)
            case .null, .json, .guid, .instant, .time: break
            }
        }
        switch types.domain(kinds.0, kinds.1) {
        case .json: return try jsonComparison(operation, left, right)
        case .boolean: return try truth(left).infix(operation.sql, truth(right))
        case .number: return try number(left).infix(operation.sql, number(right))
        case .text: return try text(left).infix(operation.sql, text(right))
        case .guid: return try lowered(left).infix(operation.sql, lowered(right))
        case .instant: return try instantComparison(operation, left, right)
        case .time: return try time(left).infix(operation.sql, time(right))
        case .null, nil: return Self.noTruth
        }
    }

    /// A user's column against a text, a number or a truth: unequal to what is of another type.
    private func constantComparison(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ value: SQLFragment,
        _ right: Expression
    ) throws(Beyond) -> SQLFragment {
        let kind = types.kind(of: right)
        // Some clients write 1 and 0 for booleans, and a number as a text.
        var alike = [right]
        switch right {
        case .literal(.boolean(let value)):
            alike.append(.literal(.number(NumberLiteral(value ? 1 : 0))))
        case .literal(.number(let number)):
            if let text = number.writtenText { alike.append(.literal(.string(text))) }
        case .literal, .column, .unary, .binary, .logical, .call, .inList:
            break
        }
        switch operation {
        case .equal:
            // An index on the whole content serves this; a row without the value has no null then.
            let contained = alike.compactMap { self.contained(left, $0) }
            if !isExact, contained.count == alike.count {
                return Self.joined(contained, "OR")
            }
            var tests: [SQLFragment] = []
            for one in alike { tests.append(value.infix("=", try constant(one))) }
            return Self.joined(tests, "OR")
        case .notEqual:
            var tests: [SQLFragment] = []
            for one in alike { tests.append(value.infix("<>", try constant(one))) }
            return Self.joined(tests, "AND")
        case .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual: break
        case .add, .sub, .mul, .div, .divBy, .mod: return Self.noTruth
        }
        if kind == .boolean { return try truth(left).infix(operation.sql, truth(right)) }
        let isNumber = kind == .number
        let compared =
            isNumber
            ? try number(left).infix(operation.sql, number(right))
            : try text(left).infix(operation.sql, text(right))
        let written = isNumber ? try writtenNumber(operation, left, right) : SQLFragment("")
        return SQLFragment(
            """
            CASE WHEN jsonb_typeof(\(value.text)) = '\(isNumber ? "number" : "string")' \
            THEN \(compared.text) \(written.text) WHEN \(value.text) IS NOT NULL THEN FALSE END
            """,
            value.arguments + compared.arguments + written.arguments + value.arguments)
    }

    private static func joined(_ tests: [SQLFragment], _ word: String) -> SQLFragment {
        tests.count == 1 ? tests[0] : .chain(tests, word)
    }

    /// The case of a text that is wholly a number (``NumberLiteral/isWritten(_:)``). A question mark would be
    /// taken for an argument.
    private func writtenNumber(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) throws(Beyond) -> SQLFragment {
        let text = try text(left)
        let wanted = try number(right)
        return SQLFragment(
            """
            WHEN \(text.text) ~ '^-{0,1}(0|[1-9][0-9]{0,14})([.][0-9]{0,14}[1-9]){0,1}$' \
            AND char_length(\(text.text)) <= 16 AND \(text.text) <> '-0' \
            THEN \(text.text)::numeric \(operation.sql) \(wanted.text)
            """,
            text.arguments + text.arguments + text.arguments + text.arguments + wanted.arguments)
    }

    /// A constant as jsonb.
    private func constant(_ expression: Expression) throws(Beyond) -> SQLFragment {
        switch expression {
        case .literal(.boolean(let value)):
            return SQLFragment(value ? "'true'::jsonb" : "'false'::jsonb")
        case .literal(.number):
            return .call("to_jsonb", try number(expression))
        case .literal(.string), .literal(.binary):
            return .call("to_jsonb", try text(expression))
        case .literal, .column, .unary, .binary, .logical, .call, .inList:
            throw Beyond()
        }
    }

    /// `content @> '{"a":{"b":1}}'`; nil for what is no constant or no column.
    private func contained(_ left: Expression, _ right: Expression) -> SQLFragment? {
        guard case .column(.user(let path)) = left, case .literal(let literal) = right else {
            return nil
        }
        var sought: JSONValue
        switch literal {
        case .boolean(let value): sought = .bool(value)
        case .string(let text): sought = .string(PostgreSQLContent.escaped(text))
        case .number(let number):
            guard let canonical = JSONNumber(PostgreSQLContent.number(of: number)) else {
                return nil
            }
            sought = .number(canonical)
        case .null, .instant, .guid, .binary, .date, .time: return nil
        }
        for name in spelled(path).reversed() { sought = .object([.init(name, sought)]) }
        return SQLFragment("(content @> ?::jsonb)", [.text(sought.text)])
    }

    /// `eq null` and `ne null`; null is neither less nor greater.
    private func nullTest(
        _ operation: Expression.BinaryOperator, _ operand: Expression
    ) throws(Beyond) -> SQLFragment {
        switch operation {
        case .equal: return try value(operand).suffixed("IS NULL")
        case .notEqual: return try value(operand).suffixed("IS NOT NULL")
        case .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual, .add, .sub, .mul, .div, .divBy,
            .mod:
            return Self.noTruth
        }
    }

    /// Ids are kept as texts, also where they are numbers on the wire.
    private func idComparison(
        _ operation: Expression.BinaryOperator, _ literal: Expression.Literal
    ) throws(Beyond) -> SQLFragment? {
        guard let wanted = literal.idText else { return nil }
        if types.schema.hasIntegerIDs, operation != .equal, operation != .notEqual,
            let integer = Int64(wanted)
        {
            return try number(.column(.id)).infix(
                operation.sql, SQLFragment("?::bigint", [.integer(integer)]))
        }
        return SQLFragment("id").infix(operation.sql, Self.bound(wanted))
    }

    /// Two columns of the user: equal if they are of one type and equal in it.
    private func jsonComparison(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) throws(Beyond) -> SQLFragment {
        guard let left = json(left), let right = json(right) else { return Self.noTruth }
        // -1, 0 or 1; 2 for values of two types.
        let compared = SQLFragment.call("odata_compare", left, right)
        switch operation {
        case .equal: return compared.suffixed("= 0")
        case .notEqual: return compared.suffixed("<> 0")
        case .greaterThan: return compared.suffixed("= 1")
        case .greaterOrEqual: return compared.suffixed("IN (0, 1)")
        case .lessThan: return compared.suffixed("= -1")
        case .lessOrEqual: return compared.suffixed("IN (-1, 0)")
        case .add, .sub, .mul, .div, .divBy, .mod: return Self.noTruth
        }
    }

    /// Compares instants: those of the system in their column's own unit, so that its index serves.
    private func instantComparison(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) throws(Beyond) -> SQLFragment {
        guard let stamp = types.stamp(left)?.text, types.isConstant(right) else {
            return try instant(left).infix(operation.sql, instant(right))
        }
        guard let instant = types.constantInstant(right) else { return Self.noTruth }
        if hasExactStamps, stamp == "stamp" {
            return SQLFragment("stamp_ticks").infix(
                operation.sql, SQLFragment("?::bigint", [.integer(instant.ticks)]))
        }
        let column = SQLFragment(stamp)
        let floor = SQLFragment("?::bigint", [.integer(instant.milliseconds)])
        guard !instant.ticks.isMultiple(of: Instant.ticksPerMillisecond) else {
            return column.infix(operation.sql, floor)
        }
        switch operation {
        case .greaterThan, .greaterOrEqual: return column.infix(">", floor)
        case .lessThan, .lessOrEqual: return column.infix("<=", floor)
        case .equal: return SQLFragment("FALSE")
        case .notEqual: return SQLFragment("TRUE")
        case .add, .sub, .mul, .div, .divBy, .mod: return Self.noTruth
        }
    }

    /// `x in (…)`.
    func membership(
        _ value: Expression, _ literals: [Expression.Literal]
    ) throws(Beyond) -> SQLFragment {
        if literals.isEmpty { return SQLFragment("FALSE") }
        var tests: [SQLFragment] = []
        for literal in literals {
            tests.append(try comparison(.equal, value, .literal(literal)))
        }
        return .chain(tests, "OR")
    }

    /// `contains`, `startswith` and `endswith`.
    func test(
        _ function: Expression.Function, _ arguments: [Expression]
    ) throws(Beyond) -> SQLFragment {
        switch function {
        case .contains:
            return try SQLFragment.call("strpos", text(arguments[0]), text(arguments[1]))
                .suffixed("> 0")
        case .startsWith:
            return try .call("starts_with", text(arguments[0]), text(arguments[1]))
        case .endsWith:
            return try .call("odata_endswith", text(arguments[0]), text(arguments[1]))
        case .length, .toLower, .toUpper, .trim, .indexOf, .substring, .concat, .replace, .year,
            .month, .day, .hour, .minute, .second, .round, .floor, .ceiling, .count:
            return Self.noTruth
        }
    }
}
