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

    private static func changedSince(_ condition: Expression) -> Instant? {
        guard case .binary(.greaterOrEqual, .column(.system(.updatedAt)), let bound) = condition,
            case .literal(.instant(let literal)) = bound
        else { return nil }
        return literal.instant
    }
}
