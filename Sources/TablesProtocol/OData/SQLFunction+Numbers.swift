extension SQLFunction {
    /// Functions of numbers. A whole number stays one.
    static let numbers: [SQLFunction] = [
        SQLFunction("mod", 2) { arguments in remainder(arguments[0], arguments[1]) },
        SQLFunction("round", 1) { arguments in
            arguments[0].rounded(.toNearestOrAwayFromZero)
        },
        SQLFunction("floor", 1) { arguments in arguments[0].rounded(.down) },
        SQLFunction("ceiling", 1) { arguments in arguments[0].rounded(.up) },
    ]

    /// What is left of a division, with the sign of the dividend; null for a division by zero.
    private static func remainder(_ dividend: SQLValue, _ divisor: SQLValue) -> SQLValue {
        if case .integer(let left) = dividend, case .integer(let right) = divisor {
            if right == 0 { return .null }
            return .integer(left.remainderReportingOverflow(dividingBy: right).partialValue)
        }
        guard let left = dividend.real, let right = divisor.real, right != 0 else { return .null }
        return .real(left.truncatingRemainder(dividingBy: right))
    }
}

extension SQLValue {
    fileprivate func rounded(_ rule: FloatingPointRoundingRule) -> SQLValue {
        switch self {
        case .integer: self
        case .real(let value): .real(value.rounded(rule))
        case .null, .text, .blob: .null
        }
    }
}
