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
        case .add, .sub, .mul, .div, .divBy, .mod, .has:
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
        case .duration: duration(left).infix("IS", duration(right))
        case .place, .null, nil: SQLFragment("0")
        }
    }

    /// A comparison with the three values of SQL.
    func compared(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) -> SQLFragment {
        if operation.isArithmetic { return .null }
        if operation == .has { return flags(left, right) }
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
        case .duration: return duration(left).infix(operation.sql, duration(right))
        case .place, .null, nil: return .null
        }
    }

    /// Whether the value is the same for all rows and not null.
    func isConstant(_ expression: Expression) -> Bool {
        switch expression {
        case .literal(let literal): literal != .null
        case .call(.now, _), .call(.minDateTime, _), .call(.maxDateTime, _): true
        case .column, .unary, .binary, .logical, .call, .inList, .cast, .isOf, .quantified,
            .variable:
            false
        }
    }

    /// Whether flags are set: all bits of a number, or all names of a text.
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

    /// The type in which two values are compared; nil if they are not comparable.
    func domain(_ left: Kind, _ right: Kind) -> Kind? {
        if left == right || right == .json { return left }
        if left == .json { return right }
        let pair: Set = [left, right]
        if pair == [.instant, .text] { return .instant }
        if pair == [.time, .text] { return .time }
        if pair == [.duration, .text] { return .duration }
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
            .mod, .has:
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
            .mod, .has:
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
        case .add, .sub, .mul, .div, .divBy, .mod, .has: return .null
        }
    }

    /// What to compare of a user's column with a constant that is no date: for a range the key of its order, so
    /// that an index in this order serves the range.
    func rangeKey(
        _ operation: Expression.BinaryOperator, _ column: Expression
    ) -> SQLFragment {
        switch operation {
        case .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual: orderKey(column)
        case .equal, .notEqual, .add, .sub, .mul, .div, .divBy, .mod, .has: json(column)
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
        case .add, .sub, .mul, .div, .divBy, .mod, .has: return .null
        }
    }
}
