/// What a comparison is whose one side has no value; see docs/decisions, "Filters follow the server of
/// the client's generation".
public enum NullComparison: Sendable, Hashable, CaseIterable {
    /// Neither true nor false, as in SQL: `text ne 'a'` leaves out rows without `text`.
    case unknown
    /// True or false, as in C#: null equals null alone, so `text ne 'a'` finds rows without `text`, and
    /// is neither less nor greater.
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
    /// The query that gives the same rows where a server of a generation answers it, whose comparisons
    /// with null may be others (``NullComparison``); nil where there is none.
    ///
    /// `ne` with a constant is written with a test for null. Below `not`, between two columns, in arrays
    /// and as values comparisons stay what they are, so such a query has no other form.
    public func translated(for generation: Generation) -> TableQuery? {
        let rule = NullComparison(generation)
        guard rule != nulls else { return self }
        guard orderBy.allSatisfy({ !$0.expression.compares }) else { return nil }
        var query = self
        query.nulls = rule
        guard let filter else { return query }
        guard let translated = filter.translated(from: nulls) else { return nil }
        query.filter = translated
        return query
    }
}

extension Expression {
    /// The condition that holds for the same rows by the other rule; nil where there is none.
    fileprivate func translated(from rule: NullComparison) -> Expression? {
        switch self {
        case .logical(let operation, let operands):
            let translated = operands.compactMap { $0.translated(from: rule) }
            return translated.count == operands.count
                ? Self.joined(operation, translated) : nil
        case .binary(let operation, let left, let right):
            if left.compares || right.compares { return nil }
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
            return value.compares ? nil : self
        case .literal, .column, .unary, .call, .cast, .isOf, .quantified, .variable:
            return compares ? nil : self
        }
    }

    private var isLiteral: Bool { if case .literal = self { true } else { false } }

    /// Whether a comparison stands in it.
    fileprivate var compares: Bool {
        switch self {
        case .literal, .column, .variable: false
        case .inList: true
        case .binary(let operation, let left, let right):
            !operation.isArithmetic || left.compares || right.compares
        case .unary(_, let operand), .cast(let operand, _), .isOf(let operand, _): operand.compares
        case .logical(_, let operands), .call(_, let operands): operands.contains(where: \.compares)
        case .quantified(_, let collection, let lambda):
            collection.compares || lambda?.condition.compares ?? false
        }
    }
}
