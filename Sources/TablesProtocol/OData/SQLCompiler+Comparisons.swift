extension SQLCompiler {
    /// `left eq right` and its like.
    func comparison(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) -> SQLFragment {
        if operation.isArithmetic { return .null }
        if right == .literal(.null) { return nullTest(operation, left) }
        if left == .literal(.null) { return nullTest(operation, right) }
        if case .literal(let literal) = right {
            if case .column(.id) = left, let fragment = idComparison(operation, literal) {
                return fragment
            }
        } else if case .literal = left {
            return comparison(operation.mirrored, right, left)
        }
        switch domain(kind(of: left), kind(of: right)) {
        case .json: return jsonComparison(operation, left, right)
        case .boolean: return truthComparison(operation, left, right)
        case .number: return numberComparison(operation, left, right)
        case .text: return textComparison(operation, left, right)
        case .guid: return guidComparison(operation, left, right)
        case .instant: return instantComparison(operation, left, right)
        case .time: return time(left).infix(operation.sql, time(right))
        case .null, nil: return .null
        }
    }

    /// The type in which two values meet; nil if they do not.
    private func domain(_ left: Kind, _ right: Kind) -> Kind? {
        if left == right || right == .json { return left }
        if left == .json { return right }
        let pair: Set = [left, right]
        if pair == [.instant, .text] { return .instant }
        if pair == [.time, .text] { return .time }
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
        case .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual, .add, .sub, .mul, .div, .mod:
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
        case .null, .boolean, .instant, .guid, .binary, .date, .time: return nil
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
        guard case .column(.user) = left, case .literal(.boolean(let wanted)) = right else {
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
        case .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual, .add, .sub, .mul, .div, .mod:
            return truth(left).infix(operation.sql, value)
        }
    }

    private func numberComparison(
        _ operation: Expression.BinaryOperator, _ left: Expression, _ right: Expression
    ) -> SQLFragment {
        guard case .column(.user) = left, case .literal(.number(let number)) = right else {
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
        let compared = text(left).infix(operation.sql, text(right))
        return SQLFragment(compared.text.dropLast() + " COLLATE NOCASE)", compared.arguments)
    }
}
