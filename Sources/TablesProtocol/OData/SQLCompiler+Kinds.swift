extension SQLCompiler {
    /// What is known of an expression's type before any row is seen.
    enum Kind {
        /// The constant null.
        case null
        /// A user's column: anything that JSON holds.
        case json
        case boolean, number, text, guid, instant, time
    }

    func kind(of expression: Expression) -> Kind {
        switch expression {
        case .literal(let literal):
            return kind(of: literal)
        case .column(.user):
            return .json
        case .column(.id):
            return schema.hasIntegerIDs ? .number : .text
        case .column(.system(let property)):
            switch property {
            case .createdAt, .updatedAt: return .instant
            case .version: return .text
            case .deleted: return .boolean
            }
        case .unary(.not, _), .logical, .inList:
            return .boolean
        case .unary(.negate, _):
            return .number
        case .binary(let operation, _, _):
            return operation.isArithmetic ? .number : .boolean
        case .call(let function, _):
            return kind(of: function)
        }
    }

    private func kind(of literal: Expression.Literal) -> Kind {
        switch literal {
        case .null: .null
        case .boolean: .boolean
        case .number: .number
        case .string, .binary: .text
        case .guid: .guid
        case .instant, .date: .instant
        case .time: .time
        }
    }

    private func kind(of function: Expression.Function) -> Kind {
        switch function {
        case .startsWith, .endsWith, .contains: .boolean
        case .toLower, .toUpper, .trim, .substring, .concat, .replace: .text
        case .length, .indexOf, .year, .month, .day, .hour, .minute, .second, .round, .floor,
            .ceiling:
            .number
        }
    }
}

extension Expression.BinaryOperator {
    /// Whether the result is a number rather than a truth.
    var isArithmetic: Bool {
        switch self {
        case .add, .sub, .mul, .div, .mod: true
        case .equal, .notEqual, .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual: false
        }
    }

    /// The operator with its sides exchanged.
    var mirrored: Self {
        switch self {
        case .greaterThan: .lessThan
        case .greaterOrEqual: .lessOrEqual
        case .lessThan: .greaterThan
        case .lessOrEqual: .greaterOrEqual
        case .equal, .notEqual, .add, .sub, .mul, .div, .mod: self
        }
    }

    /// The operator in SQL.
    var sql: String {
        switch self {
        case .equal: "="
        case .notEqual: "<>"
        case .greaterThan: ">"
        case .greaterOrEqual: ">="
        case .lessThan: "<"
        case .lessOrEqual: "<="
        case .add: "+"
        case .sub: "-"
        case .mul: "*"
        case .div: "/"
        case .mod: "%"
        }
    }
}
