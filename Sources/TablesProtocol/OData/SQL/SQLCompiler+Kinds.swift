extension SQLCompiler {
    /// The static type of an expression.
    enum Kind {
        /// The constant null.
        case null
        /// A user's column or a value in it: any JSON value.
        case json
        case boolean, number, text, guid, instant, time, duration
        /// A point or a line, which only `geo.distance` and `geo.length` use.
        case place
    }

    func kind(of expression: Expression) -> Kind {
        switch expression {
        case .literal(let literal):
            return kind(of: literal)
        case .column(.user), .variable:
            return .json
        case .column(.id):
            return schema.hasIntegerIDs ? .number : .text
        case .column(.system(let property)):
            switch property {
            case .createdAt, .updatedAt: return .instant
            case .version: return .text
            case .deleted: return .boolean
            }
        case .unary(.not, _), .logical, .inList, .isOf, .quantified:
            return .boolean
        case .unary(.negate, let operand):
            return kind(of: operand) == .duration ? .duration : .number
        case .binary(let operation, let left, let right):
            return operation.isArithmetic
                ? kind(of: operation, kind(of: left), kind(of: right)) : .boolean
        case .cast(_, let type):
            return kind(of: type)
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
        case .duration: .duration
        case .geo: .place
        }
    }

    /// The static type of a `cast`.
    func kind(of type: EdmType) -> Kind {
        switch type {
        case .binary, .string: .text
        case .boolean: .boolean
        case .byte, .decimal, .double, .int16, .int32, .int64, .single: .number
        case .date, .dateTime, .dateTimeOffset: .instant
        case .duration: .duration
        case .guid: .guid
        case .time, .timeOfDay: .time
        }
    }

    /// The static type of arithmetic. A column beside an instant or a duration is a date.
    private func kind(
        of operation: Expression.BinaryOperator, _ left: Kind, _ right: Kind
    ) -> Kind {
        switch (operation, left, right) {
        case (.add, .instant, .duration), (.add, .duration, .instant), (.add, .json, .duration),
            (.add, .duration, .json), (.sub, .instant, .duration), (.sub, .json, .duration):
            .instant
        case (.sub, .instant, .instant), (.sub, .json, .instant), (.sub, .instant, .json),
            (.add, .duration, .duration), (.sub, .duration, .duration),
            (.mul, .duration, .number), (.mul, .duration, .json), (.mul, .number, .duration),
            (.mul, .json, .duration), (.div, .duration, .number), (.div, .duration, .json),
            (.divBy, .duration, .number), (.divBy, .duration, .json):
            .duration
        default: .number
        }
    }

    private func kind(of function: Expression.Function) -> Kind {
        switch function {
        case .startsWith, .endsWith, .contains, .matchesPattern: .boolean
        case .toLower, .toUpper, .trim, .substring, .concat, .replace: .text
        case .date, .now, .minDateTime, .maxDateTime: .instant
        case .time: .time
        case .length, .indexOf, .year, .month, .day, .hour, .minute, .second, .fractionalSeconds,
            .totalOffsetMinutes, .totalSeconds, .round, .floor, .ceiling, .geoDistance, .geoLength,
            .count:
            .number
        }
    }
}

extension Expression.BinaryOperator {
    /// Whether the result is a number rather than a boolean.
    var isArithmetic: Bool {
        switch self {
        case .add, .sub, .mul, .div, .divBy, .mod: true
        case .equal, .notEqual, .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual, .has: false
        }
    }

    /// The operator with its sides swapped.
    var mirrored: Self {
        switch self {
        case .greaterThan: .lessThan
        case .greaterOrEqual: .lessOrEqual
        case .lessThan: .greaterThan
        case .lessOrEqual: .greaterOrEqual
        case .equal, .notEqual, .add, .sub, .mul, .div, .divBy, .mod, .has: self
        }
    }

    /// The operator in SQL; ``has`` is a function there.
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
        case .div, .divBy: "/"
        case .mod: "%"
        case .has: "IS"
        }
    }
}
