extension SQLCompiler {
    /// `left eq right` and its like, as the client's generation decides them.
    func comparison(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) -> SQLFragment {
        guard nulls == .decided else { return compared(operation, left, right) }
        // `IS` has two values, and costs the parser of SQLite one level where a function costs three.
        switch operation {
        case .equal, .notEqual:
            let isEqual = operation == .equal
            // A test for null decides by itself, and an index serves it as it is.
            if isNull(left) || isNull(right) { return compared(operation, left, right) }
            // One side is not null, so that null on the other side is another value.
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
        case .add, .sub, .mul, .div, .divBy, .mod, .has:
            return compared(operation, left, right)
        }
    }

    private func isNull(_ expression: Expression) -> Bool { expression == .literal(.null) }

    /// Whether two values are equal, or both null: 1 or 0.
    private func same(_ left: Expression, _ right: Expression) -> SQLFragment {
        switch domain(kind(of: left), kind(of: right)) {
        case .json:
            json(left).infix("IS", json(right))
                .infix("AND", jsonClass(left).infix("IS", jsonClass(right)))
        case .boolean: truth(left).infix("IS", truth(right))
        case .number: number(left).infix("IS", number(right))
        case .text: text(left).infix("IS", text(right))
        case .guid: ignoringCase(text(left).infix("IS", text(right)))
        case .instant: instant(left).infix("IS", instant(right))
        case .time: time(left).infix("IS", time(right))
        case .duration: duration(left).infix("IS", duration(right))
        case .place, .null, nil: SQLFragment("0")
        }
    }

    /// A comparison with SQL's three values.
    func compared(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) -> SQLFragment {
        if operation.isArithmetic { return .null }
        if operation == .has { return flags(left, right) }
        if isNull(right) { return nullTest(operation, left) }
        if isNull(left) { return nullTest(operation, right) }
        if case .literal(let literal) = right {
            if case .column(.id) = left, let fragment = idComparison(operation, literal) {
                return fragment
            }
        } else if isConstant(left), !isConstant(right) {
            return compared(operation.mirrored, right, left)
        }
        switch domain(kind(of: left), kind(of: right)) {
        case .json: return jsonComparison(operation, left, right)
        case .boolean: return truthComparison(operation, left, right)
        case .number: return numberComparison(operation, left, right)
        case .text: return textComparison(operation, left, right)
        case .guid: return guidComparison(operation, left, right)
        case .instant: return instantComparison(operation, left, right)
        case .time: return time(left).infix(operation.sql, time(right))
        case .duration: return duration(left).infix(operation.sql, duration(right))
        case .place, .null, nil: return .null
        }
    }

    /// Whether the value is the same for all rows, and not null.
    func isConstant(_ expression: Expression) -> Bool {
        switch expression {
        case .literal(let literal): literal != .null
        case .call(.now, _), .call(.minDateTime, _), .call(.maxDateTime, _): true
        case .column, .unary, .binary, .logical, .call, .inList, .cast, .isOf, .quantified,
            .variable:
            false
        }
    }

    /// Whether flags are set: all bits of a number, all names of a text.
    private func flags(_ left: Expression, _ right: Expression) -> SQLFragment {
        let values = [left, right].map { side in
            switch kind(of: side) {
            case .json: json(side, ofTypes: "'integer','text'")
            case .number: number(side)
            case .text: text(side)
            case .null, .boolean, .guid, .instant, .time, .duration, .place: SQLFragment.null
            }
        }
        return .call("odata_has", values)
    }

    /// The type in which two values meet; nil if they do not.
    func domain(_ left: Kind, _ right: Kind) -> Kind? {
        if left == right || right == .json { return left }
        if left == .json { return right }
        let pair: Set = [left, right]
        if pair == [.instant, .text] { return .instant }
        if pair == [.time, .text] { return .time }
        if pair == [.duration, .text] { return .duration }
        return pair == [.guid, .text] ? .guid : nil
    }

    /// `eq null` and `ne null`; null is neither less nor greater.
    private func nullTest(
        _ operation: Expression.BinaryOperator, _ operand: Expression
    ) -> SQLFragment {
        let value = value(operand)
        switch operation {
        case .equal: return SQLFragment("(\(value.text) IS NULL)", value.arguments)
        case .notEqual: return SQLFragment("(\(value.text) IS NOT NULL)", value.arguments)
        case .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual, .add, .sub, .mul, .div, .divBy,
            .mod, .has:
            return .null
        }
    }

    /// Ids are kept as texts, also where they are numbers on the wire.
    private func idComparison(
        _ operation: Expression.BinaryOperator, _ literal: Expression.Literal
    ) -> SQLFragment? {
        let wanted: String
        switch literal {
        case .string(let string): wanted = string
        case .number(let number): wanted = number.integer.map(String.init) ?? number.text
        case .null, .boolean, .instant, .guid, .binary, .date, .time, .duration, .geo: return nil
        }
        if schema.hasIntegerIDs, operation != .equal, operation != .notEqual,
            let integer = Int64(wanted)
        {
            return number(.column(.id)).infix(operation.sql, .bound(.integer(integer)))
        }
        return sql("id").infix(operation.sql, .bound(SQLValue(wanted)))
    }

    /// Two columns of the user: equal if they are of one type and equal in it.
    private func jsonComparison(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) -> SQLFragment {
        let compared = json(left).infix(operation.sql, json(right))
        let classes = (jsonClass(left), jsonClass(right))
        return operation == .notEqual
            ? compared.infix("OR", classes.0.infix("<>", classes.1))
            : compared.infix("AND", classes.0.infix("=", classes.1))
    }

    private func truthComparison(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) -> SQLFragment {
        guard kind(of: left) == .json, case .literal(.boolean(let wanted)) = right else {
            return truth(left).infix(operation.sql, truth(right))
        }
        // The first part alone can use an index; the second tells true from 1.
        let value = SQLFragment(wanted ? "1" : "0")
        let type = SQLFragment(wanted ? "'true'" : "'false'")
        switch operation {
        case .equal:
            return json(left).infix("=", value).infix("AND", jsonType(left).infix("=", type))
        case .notEqual:
            return json(left).infix("<>", value).infix("OR", jsonType(left).infix("<>", type))
        case .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual, .add, .sub, .mul, .div, .divBy,
            .mod, .has:
            return truth(left).infix(operation.sql, value)
        }
    }

    private func numberComparison(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) -> SQLFragment {
        guard kind(of: left) == .json, case .literal(.number(let number)) = right else {
            return self.number(left).infix(operation.sql, self.number(right))
        }
        let compared = json(left).infix(operation.sql, constant(number))
        let type = jsonType(left)
        let types = SQLFragment("('integer','real')")
        return operation == .notEqual
            ? compared.infix("OR", type.infix("NOT IN", types))
            : compared.infix("AND", type.infix("IN", types))
    }

    private func guidComparison(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) -> SQLFragment {
        ignoringCase(text(left).infix(operation.sql, text(right)))
    }

    /// A comparison of texts, `(a = b)`, whatever their case.
    private func ignoringCase(_ comparison: SQLFragment) -> SQLFragment {
        SQLFragment(comparison.text.dropLast() + " COLLATE NOCASE)", comparison.arguments)
    }

    /// Compares instants: those of the system against a constant in whole milliseconds, so that the
    /// index on them serves; all others in ticks.
    func instantComparison(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) -> SQLFragment {
        if let stamp = stamp(left), isConstant(right) {
            guard let instant = constantInstant(right) else { return .null }
            return stampComparison(operation, stamp, instant)
        }
        return self.instant(left).infix(operation.sql, self.instant(right))
    }

    /// A stamp in milliseconds against an instant that may lie between two of them.
    ///
    /// Between milliseconds m and m + 1: `gt` and `ge` are `> m`, `lt` and `le` are `<= m`, nothing
    /// is equal and everything else is unequal.
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
        case .add, .sub, .mul, .div, .divBy, .mod, .has: return .null
        }
    }
}
