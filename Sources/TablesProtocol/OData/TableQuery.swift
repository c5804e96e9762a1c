/// What a list request asks for, in one form for all generations.
public struct TableQuery: Sendable, Hashable {
    /// `$filter`.
    public var filter: Expression?
    /// `$orderby`; the id is added as the last term when it is compiled.
    public var orderBy: [Ordering]
    /// `$top`, as asked; the page size is the server's own.
    public var top: Int?
    /// `$skip`.
    public var skip: Int
    /// `__after`: only items changed later than this, whatever ``skip`` says. Next links in the order
    /// of change carry it: an item that changes while a client pages moves to the end of that order,
    /// and one that did not would be skipped in its place.
    public var after: Instant?
    /// `$select`; nil for all columns.
    public var select: [Expression.Column]?
    /// Whether the answer carries the total (`$inlinecount=allpages`, `$count=true`).
    public var count: Bool
    /// `__includeDeleted=true`.
    public var includeDeleted: Bool
    /// What comparisons with null are to the client that asks.
    public var nulls: NullComparison

    /// A query; without arguments, all items that are not deleted.
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
    /// What is compared.
    public let expression: Expression
    /// Whether the greatest comes first.
    public let descending: Bool

    /// A term of an order.
    public init(_ expression: Expression, descending: Bool = false) {
        self.expression = expression
        self.descending = descending
    }
}

// What tells the list of a client that syncs, and keeps it whole while items change under it.
extension TableQuery {
    /// Whether the items come in the order of their changes, oldest first.
    public var isInOrderOfChange: Bool {
        guard let first = orderBy.first, !first.descending else { return false }
        return first.expression == .column(.system(.updatedAt))
    }

    /// The instant T when only items changed at T or later are asked for.
    public var changedSince: Instant? {
        switch filter {
        case .logical(.and, let conditions): conditions.compactMap(Self.changedSince).max()
        case let condition?: Self.changedSince(condition)
        case nil: nil
        }
    }

    /// Whether a client that syncs asks: in the order of changes, or for what changed since some instant.
    public var asksForChanges: Bool {
        if isInOrderOfChange { return true }
        return switch filter {
        case .logical(.and, let conditions): conditions.contains(where: Self.isSince)
        case let condition?: Self.isSince(condition)
        case nil: false
        }
    }

    /// Whether the list may go on from an earlier page: it skips rows, or asks for those behind a value.
    public var mayGoOn: Bool {
        if skip > 0 || after != nil { return true }
        return switch filter {
        case .logical(.and, let conditions): conditions.contains(where: Self.isBehindValue)
        case let condition?: Self.isBehindValue(condition)
        case nil: false
        }
    }

    private static func isBehindValue(_ condition: Expression) -> Bool {
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
    /// The rows after a row in the order `updatedAt, id`:
    /// `(updatedAt gt T) or ((updatedAt eq T) and (id gt I))`.
    ///
    /// - Parameters:
    ///   - updatedAt: the row's own text, which is sent back as it came, to its last digit.
    ///   - id: the row's id, sent as a string, a GUID as well; as a number if the ids are integers.
    /// - Returns: nil if the text is no date.
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

    /// The rows changed at an instant or later, `updatedAt ge T`, with the literal's own text.
    public static func changed(since literal: InstantLiteral) -> Expression {
        .binary(.greaterOrEqual, .column(.system(.updatedAt)), .literal(.instant(literal)))
    }

    /// Both conditions, or this one if there is no other.
    public func and(_ other: Expression?) -> Expression {
        guard let other else { return self }
        return Self.joined(.and, [self, other]) ?? self
    }
}
