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
