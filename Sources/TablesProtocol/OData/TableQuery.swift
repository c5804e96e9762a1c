/// The request for a list, independent of the generation.
public struct TableQuery: Sendable, Hashable {
    /// `$filter`.
    public var filter: Expression?
    /// `$orderby`. The compiler adds the id as the last term.
    public var orderBy: [Ordering]
    /// `$top` as requested, regardless of the page size.
    public var top: Int?
    /// `$skip`.
    public var skip: Int
    /// `__after`: only items that changed later than this; ``skip`` is then ignored. Next links in the
    /// order of change contain it: an item that changes meanwhile moves to the end of that order, so with
    /// `$skip` another item would be missed.
    public var after: Instant?
    /// `__next`: the backend's own query for the next page, still encoded. Next links contain it if the list is
    /// the backend's, in its own order.
    public var next: String?
    /// `$select`; nil for all columns.
    public var select: [Expression.Column]?
    /// Whether the answer contains the total count (`$inlinecount=allpages`, `$count=true`).
    public var count: Bool
    /// `__includeDeleted=true`.
    public var includeDeleted: Bool
    /// The rule for comparisons with null.
    public var nulls: NullComparison

    /// Makes a query; without arguments, all items that are not deleted.
    public init(
        filter: Expression? = nil, orderBy: [Ordering] = [], top: Int? = nil, skip: Int = 0,
        after: Instant? = nil, select: [Expression.Column]? = nil, count: Bool = false,
        includeDeleted: Bool = false, nulls: NullComparison = .unknown
    ) {
        self.filter = filter
        self.orderBy = orderBy
        self.top = top
        self.skip = skip
        self.after = after
        self.select = select
        self.count = count
        self.includeDeleted = includeDeleted
        self.nulls = nulls
    }
}

/// One term of `$orderby`.
public struct Ordering: Sendable, Hashable {
    /// The value to order by.
    public let expression: Expression
    /// Whether the order is descending.
    public let descending: Bool

    /// Makes a term.
    public init(_ expression: Expression, descending: Bool = false) {
        self.expression = expression
        self.descending = descending
    }
}

// How a sync client's list is recognised, and how it continues while items change.
extension TableQuery {
    /// Whether the items are ordered by their changes, oldest first.
    public var isInOrderOfChange: Bool {
        guard let first = orderBy.first, !first.descending else { return false }
        return first.expression == .column(.system(.updatedAt))
    }

    /// The instant T, if the filter requires `updatedAt ge T`; else nil.
    public var changedSince: Instant? {
        switch filter {
        case .logical(.and, let conditions): conditions.compactMap(Self.changedSince).max()
        case let condition?: Self.changedSince(condition)
        case nil: nil
        }
    }

    /// Whether a sync client asks: the list is in the order of changes, or the filter requires `updatedAt`
    /// to be at or after a time.
    public var isSyncQuery: Bool {
        if isInOrderOfChange { return true }
        return switch filter {
        case .logical(.and, let conditions): conditions.contains(where: Self.isSince)
        case let condition?: Self.isSince(condition)
        case nil: false
        }
    }

    /// Whether the list may continue an earlier page: it skips rows, or has a filter with a bound.
    public var mayContinuePage: Bool {
        if skip > 0 || after != nil { return true }
        return switch filter {
        case .logical(.and, let conditions): conditions.contains(where: Self.hasBound)
        case let condition?: Self.hasBound(condition)
        case nil: false
        }
    }

    private static func hasBound(_ condition: Expression) -> Bool {
        guard case .binary(let operation, .column, _) = condition else { return false }
        return [.greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual].contains(operation)
    }

    private static func isSince(_ condition: Expression) -> Bool {
        guard case .binary(let operation, .column(.system(.updatedAt)), _) = condition else {
            return false
        }
        return operation == .greaterOrEqual || operation == .greaterThan
    }

    private static func changedSince(_ condition: Expression) -> Instant? {
        guard case .binary(.greaterOrEqual, .column(.system(.updatedAt)), let bound) = condition,
            case .literal(.instant(let literal)) = bound
        else { return nil }
        return literal.instant
    }
}

extension Expression {
    /// The condition for the rows after a row in the order `updatedAt, id`:
    /// `(updatedAt gt T) or ((updatedAt eq T) and (id gt I))`.
    ///
    /// - Parameters:
    ///   - updatedAt: the row's own text, which is sent unchanged.
    ///   - id: the row's id. Sent as a number if the ids are integers, else as a string.
    /// - Returns: nil if the text is not a date.
    public static func keyset(after updatedAt: String, id: String, kind: IDKind = .string)
        -> Expression?
    {
        guard let literal = InstantLiteral(updatedAt) else { return nil }
        let column = Expression.column(.system(.updatedAt))
        let time = Expression.literal(.instant(literal))
        let last: Literal =
            kind == .integer
            ? Int64(id).map { .number(NumberLiteral($0)) } ?? .string(id) : .string(id)
        let tie = Expression.logical(
            .and,
            [
                .binary(.equal, column, time),
                .binary(.greaterThan, .column(.id), .literal(last)),
            ])
        return .logical(.or, [.binary(.greaterThan, column, time), tie])
    }

    /// The condition for rows that changed at an instant or later, `updatedAt ge T`, with the literal's
    /// text.
    public static func changed(since literal: InstantLiteral) -> Expression {
        .binary(.greaterOrEqual, .column(.system(.updatedAt)), .literal(.instant(literal)))
    }

    /// Both conditions; this one if the other is nil.
    public func and(_ other: Expression?) -> Expression {
        guard let other else { return self }
        return Self.joined(.and, [self, other]) ?? self
    }
}
