extension SQLCompiler {
    /// A comparison such as `left eq right`, with the null rule of the client's generation.
    func comparison(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) -> SQLFragment {
        guard nulls == .decided else { return compared(operation, left, right) }
        // `IS` has two values, and adds one level to SQLite's parser stack where a function adds three.
        switch operation {
        case .equal, .notEqual:
            let isEqual = operation == .equal
            // A test for null is never null, and an index serves it in this form.
            if left.isNullLiteral || right.isNullLiteral { return compared(operation, left, right) }
            // One side is not null, so null on the other side is a different value.
            if isConstant(left) || isConstant(right) {
                let fragment = compared(operation, left, right)
                if !isEqual { return fragment.infix("IS NOT", SQLFragment("0")) }
                return isExact ? fragment.infix("IS", SQLFragment("1")) : fragment
            }
            let same = same(left, right)
            return isEqual ? same : SQLFragment("(NOT \(same.text))", same.arguments)
        case .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual:
            let fragment = compared(operation, left, right)
            return isExact ? fragment.infix("IS", SQLFragment("1")) : fragment
        case .add, .sub, .mul, .div, .divBy, .mod:
            return compared(operation, left, right)
        }
    }

    /// Whether two values are equal or both null: 1 or 0.
    private func same(_ left: Expression, _ right: Expression) -> SQLFragment {
        switch domain(kind(of: left), kind(of: right)) {
        case .json:
            json(left).infix("IS", json(right))
                .infix("AND", jsonClass(left).infix("IS", jsonClass(right)))
        case .boolean: boolean(left).infix("IS", boolean(right))
        case .number: number(left).infix("IS", number(right))
        case .text: text(left).infix("IS", text(right))
        case .guid: ignoringCase(text(left).infix("IS", text(right)))
        case .instant: instant(left).infix("IS", instant(right))
        case .time: time(left).infix("IS", time(right))
        case .null, nil: SQLFragment("0")
        }
    }

    /// A comparison with the three values of SQL.
    func compared(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) -> SQLFragment {
        if operation.isArithmetic { return .null }
        if right.isNullLiteral { return nullTest(operation, left) }
        if left.isNullLiteral { return nullTest(operation, right) }
        if case .literal(let literal) = right {
            if case .column(.id) = left, let fragment = idComparison(operation, literal) {
                return fragment
            }
        } else if isConstant(left), !isConstant(right) {
            return compared(operation.mirrored, right, left)
        }
        switch domain(kind(of: left), kind(of: right)) {
        case .json: return jsonComparison(operation, left, right)
        case .boolean: return booleanComparison(operation, left, right)
        case .number: return numberComparison(operation, left, right)
        case .text: return textComparison(operation, left, right)
        case .guid: return guidComparison(operation, left, right)
        case .instant: return instantComparison(operation, left, right)
        case .time: return time(left).infix(operation.sql, time(right))
        case .null, nil: return .null
        }
    }

    /// Whether the value is the same for all rows and not null.
    package func isConstant(_ expression: Expression) -> Bool {
        switch expression {
        case .literal(let literal): literal != .null
        case .column, .unary, .binary, .logical, .call, .inList:
            false
        }
    }

    /// The type in which two values are compared; nil if they are not comparable.
    package func domain(_ left: Kind, _ right: Kind) -> Kind? {
        if left == right || right == .json { return left }
        if left == .json { return right }
        let pair: Set = [left, right]
        if pair == [.instant, .text] { return .instant }
        if pair == [.time, .text] { return .time }
        return pair == [.guid, .text] ? .guid : nil
    }

    /// `eq null` and `ne null`. Null is neither less nor greater than a value.
    private func nullTest(
        _ operation: Expression.BinaryOperator, _ operand: Expression
    ) -> SQLFragment {
        let value = value(operand)
        switch operation {
        case .equal: return SQLFragment("(\(value.text) IS NULL)", value.arguments)
        case .notEqual: return SQLFragment("(\(value.text) IS NOT NULL)", value.arguments)
        case .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual, .add, .sub, .mul, .div, .divBy,
            .mod:
            return .null
        }
    }

    /// Ids are stored as texts, even if they are numbers on the wire.
    private func idComparison(
        _ operation: Expression.BinaryOperator, _ literal: Expression.Literal
    ) -> SQLFragment? {
        guard let wanted = literal.idText else { return nil }
        if schema.hasIntegerIDs, operation != .equal, operation != .notEqual,
            let integer = Int64(wanted)
        {
            return number(.column(.id)).infix(operation.sql, .bound(.integer(integer)))
        }
        return sql("id").infix(operation.sql, .bound(SQLValue(wanted)))
    }

    /// Compares two user's columns: equal if they have the same type and value.
    private func jsonComparison(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) -> SQLFragment {
        let compared = json(left).infix(operation.sql, json(right))
        let classes = (jsonClass(left), jsonClass(right))
        return operation == .notEqual
            ? compared.infix("OR", classes.0.infix("<>", classes.1))
            : compared.infix("AND", classes.0.infix("=", classes.1))
    }

    private func booleanComparison(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) -> SQLFragment {
        guard kind(of: left) == .json, case .literal(.boolean(let wanted)) = right else {
            return boolean(left).infix(operation.sql, boolean(right))
        }
        let value = SQLFragment(wanted ? "1" : "0")
        switch operation {
        // `json_extract` gives a boolean as 1 or 0, which some clients write for it.
        case .equal, .notEqual:
            return json(left).infix(operation.sql, value)
        case .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual, .add, .sub, .mul, .div, .divBy,
            .mod:
            return boolean(left).infix(operation.sql, value)
        }
    }

    private func numberComparison(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) -> SQLFragment {
        guard kind(of: left) == .json, case .literal(.number(let number)) = right else {
            return self.number(left).infix(operation.sql, self.number(right))
        }
        let wanted = constant(number)
        let type = jsonType(left)
        let isNumber = type.infix("IN", SQLFragment("('integer','real')"))
        // Some clients write a number as a text.
        let texts = number.writtenText.map { [SQLFragment.bound(.text($0))] } ?? []
        let alike = SQLFragment.joined([wanted] + texts, separator: ",")
        let list = SQLFragment("(\(alike.text))", alike.arguments)
        let types = SQLFragment("('integer','real','text')")
        let compared = rangeKey(operation, left).infix(operation.sql, wanted)
        let written = type.infix("=", SQLFragment("'text'")).infix(
            "AND",
            SQLFragment.call("odata_numeric", json(left)).infix(operation.sql, wanted)
                .infix("IS", SQLFragment("1")))
        switch operation {
        case .equal:
            return json(left).infix("IN", list).infix("AND", type.infix("IN", types))
        case .notEqual:
            return json(left).infix("NOT IN", list).infix("OR", type.infix("NOT IN", types))
        // In an order every text is above every number.
        case .greaterThan, .greaterOrEqual:
            return compared.infix("AND", isNumber.infix("OR", written))
        case .lessThan, .lessOrEqual:
            let key = rangeKey(operation, left)
            let isNear = key.infix(">=", SQLFragment("'-'")).infix(
                "AND", key.infix("<", SQLFragment("':'")))
            return compared.infix("AND", isNumber).infix("OR", isNear.infix("AND", written))
        case .add, .sub, .mul, .div, .divBy, .mod: return .null
        }
    }

    /// What to compare of a user's column with a constant that is no date: for a range the key of its order, so
    /// that an index in this order serves the range.
    func rangeKey(
        _ operation: Expression.BinaryOperator, _ column: Expression
    ) -> SQLFragment {
        switch operation {
        case .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual: orderKey(column)
        case .equal, .notEqual, .add, .sub, .mul, .div, .divBy, .mod: json(column)
        }
    }

    private func guidComparison(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) -> SQLFragment {
        ignoringCase(text(left).infix(operation.sql, text(right)))
    }

    /// Makes a text comparison `(a = b)` ignore case.
    private func ignoringCase(_ comparison: SQLFragment) -> SQLFragment {
        SQLFragment(comparison.text.dropLast() + " COLLATE NOCASE)", comparison.arguments)
    }

    /// Compares instants. `createdAt` and `updatedAt` are compared with a constant in whole milliseconds,
    /// so that their index serves; all others are compared in ticks.
    func instantComparison(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) -> SQLFragment {
        if let stamp = stamp(left), isConstant(right) {
            guard let instant = constantInstant(right) else { return .null }
            return stampComparison(operation, stamp, instant)
        }
        return self.instant(left).infix(operation.sql, self.instant(right))
    }

    /// Compares a stamp in milliseconds with an instant that may be between two milliseconds.
    ///
    /// Between milliseconds m and m + 1: `gt` and `ge` become `> m`, `lt` and `le` become `<= m`, nothing
    /// is equal and everything is unequal.
    private func stampComparison(
        _ operation: Expression.BinaryOperator, _ stamp: SQLFragment, _ instant: Instant
    ) -> SQLFragment {
        let floor = SQLFragment.bound(.integer(instant.milliseconds))
        guard !instant.ticks.isMultiple(of: Instant.ticksPerMillisecond) else {
            return stamp.infix(operation.sql, floor)
        }
        switch operation {
        case .greaterThan, .greaterOrEqual: return stamp.infix(">", floor)
        case .lessThan, .lessOrEqual: return stamp.infix("<=", floor)
        case .equal: return stamp.infix("IS NULL AND", .null)
        case .notEqual: return stamp.infix("IS NOT NULL OR", .null)
        case .add, .sub, .mul, .div, .divBy, .mod: return .null
        }
    }

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
            .mod:
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
        case .null, .json, .boolean, .number, .text, .guid, .instant, .time:
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
            .month, .day, .hour, .minute, .second, .round, .floor, .ceiling, .count:
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
