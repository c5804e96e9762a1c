/// The result of a comparison with null. See docs/decisions/protocol.md.
public enum NullComparison: Sendable, Hashable, CaseIterable {
    /// Neither true nor false, as in SQL: `text ne 'a'` does not match rows without `text`.
    case unknown
    /// True or false, as in C#: null equals only null, so `text ne 'a'` matches rows without `text`. Null
    /// is neither less nor greater than a value.
    case decided

    /// The rule of a generation's servers.
    public init(_ generation: Generation) {
        switch generation {
        case .mobileServices, .mobileApps: self = .unknown
        case .datasync: self = .decided
        }
    }
}

extension TableQuery {
    /// The query that gives the same rows on a server of a generation, whose rule for null may differ
    /// (``NullComparison``); nil if there is none.
    ///
    /// `ne` with a constant becomes a comparison and a test for null. Comparisons below `not`, between two
    /// columns, in arrays and as values cannot be rewritten.
    public func translated(for generation: Generation) -> TableQuery? {
        let rule = NullComparison(generation)
        guard rule != nulls else { return self }
        guard orderBy.allSatisfy({ !$0.expression.containsComparison }) else { return nil }
        var query = self
        query.nulls = rule
        guard let filter else { return query }
        guard let translated = filter.translated(from: nulls) else { return nil }
        query.filter = translated
        return query
    }
}

extension Expression {
    /// The condition that matches the same rows under the other rule; nil if there is none.
    fileprivate func translated(from rule: NullComparison) -> Expression? {
        switch self {
        case .logical(let operation, let operands):
            let translated = operands.compactMap { $0.translated(from: rule) }
            return translated.count == operands.count
                ? Self.joined(operation, translated) : nil
        case .binary(let operation, let left, let right):
            if left.containsComparison || right.containsComparison { return nil }
            if left == .literal(.null) || right == .literal(.null) { return self }
            let other = left.isLiteral ? right : right.isLiteral ? left : nil
            switch operation {
            case .notEqual:
                guard let other else { return nil }
                return rule == .decided
                    ? Self.joined(.or, [self, .binary(.equal, other, .literal(.null))])
                    : Self.joined(.and, [self, .binary(.notEqual, other, .literal(.null))])
            case .equal:
                return other == nil ? nil : self
            case .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual, .add, .sub, .mul, .div,
                .divBy, .mod, .has:
                return self
            }
        case .inList(let value, _):
            return value.containsComparison ? nil : self
        case .literal, .column, .unary, .call, .cast, .isOf, .quantified, .variable:
            return containsComparison ? nil : self
        }
    }

    private var isLiteral: Bool { if case .literal = self { true } else { false } }

    fileprivate var containsComparison: Bool {
        switch self {
        case .literal, .column, .variable: false
        case .inList: true
        case .binary(let operation, let left, let right):
            !operation.isArithmetic || left.containsComparison || right.containsComparison
        case .unary(_, let operand), .cast(let operand, _), .isOf(let operand, _):
            operand.containsComparison
        case .logical(_, let operands), .call(_, let operands):
            operands.contains(where: \.containsComparison)
        case .quantified(_, let collection, let lambda):
            collection.containsComparison || lambda?.condition.containsComparison ?? false
        }
    }
}
