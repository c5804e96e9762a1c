extension SQLCompiler {
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
