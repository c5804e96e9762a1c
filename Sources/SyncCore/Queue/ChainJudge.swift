import TablesProtocol

/// Judges the operations of one item, in order, against the backend's row. Pure.
///
/// Each operation goes through the three-way merge: the row that the client saw, the columns that it
/// changed, and the backend's row as the operations before it leave it.
struct ChainJudge {
    /// The operation before the chain, which the backend has just applied.
    struct Predecessor {
        var kind: OperationKind
        /// The row that should be the result; nil if the operation deleted the row.
        var expected: Columns?
        /// Whether the backend's row answers our own insert or conditional request. Then every difference
        /// from what was sent comes from the backend itself, not from another writer.
        var isOwnAnswer: Bool
    }

    /// Whether an operation overlaps with another writer's change.
    enum Judgement: Sendable, Hashable {
        /// It can be sent over the backend's row.
        case noOverlap
        /// Another writer changed these columns too. The list is empty if the row as a whole is in the way:
        /// it is gone, or it was changed and the operation deletes it.
        case overlap([String])
    }

    /// The backend's row that the next operation is sent over.
    private(set) var server: ServerSide
    /// The same row, plus the sent columns that the backend does not keep.
    private var includingSent: ServerSide
    /// The same row, without changes that the backend itself made to what was sent.
    private var withoutOwnChanges: ServerSide
    /// The columns that the backend added to a new row.
    private var defaults = Columns()

    init(_ server: ServerSide, after predecessor: Predecessor?) {
        self.server = server
        includingSent = server
        withoutOwnChanges = server
        guard let predecessor, let expected = predecessor.expected, let columns = server.columns
        else { return }
        includingSent.columns = columns.filled(from: expected)
        withoutOwnChanges = includingSent
        if predecessor.kind == .insert {
            let known = ColumnValues(expected)
            let added = Columns(columns.all.filter { known[$0.name] == nil })
            // In a row that was read back, another writer may have added them.
            if predecessor.isOwnAnswer { defaults = added }
        }
        if predecessor.isOwnAnswer { withoutOwnChanges.columns = expected }
    }

    /// Judges an operation against the backend's row.
    func judge(_ operation: TableOperation) -> Judgement {
        switch operation.kind {
        case .undelete: return .noOverlap
        case .insert:
            guard server.isLive, let columns = server.columns else { return .noOverlap }
            return columns.holds(operation.changes) ? .noOverlap : .overlap([])
        case .update, .replace:
            guard server.isLive else { return .overlap([]) }
            let merge = ThreeWayMerge(
                base: (operation.baseRow ?? Columns()).filled(from: defaults),
                changes: operation.changes, theirs: includingSent.columns ?? Columns())
            return merge.overlaps.isEmpty ? .noOverlap : .overlap(merge.overlaps)
        case .delete:
            guard server.isLive, let columns = withoutOwnChanges.columns else { return .noOverlap }
            let base = operation.baseRow ?? Columns()
            return columns.changedNames(from: base).isEmpty ? .noOverlap : .overlap([])
        }
    }

    /// Advances to the row that an operation leaves.
    mutating func advance(past operation: TableOperation) {
        for side in [\ChainJudge.server, \.includingSent, \.withoutOwnChanges] {
            self[keyPath: side].columns = Rebase.desiredColumns(
                operation, over: self[keyPath: side])
            self[keyPath: side].isDeleted = operation.kind == .delete
        }
        defaults = Columns()
    }

    /// The new base of an operation that overlaps behind another open operation: the row that it will be
    /// sent over, but in the overlapping columns the values that the client saw. They are judged again later.
    func base(of operation: TableOperation, without overlaps: [String]) -> Columns? {
        guard var base = server.columns, !overlaps.isEmpty else { return operation.baseRow }
        base.merge((operation.baseRow ?? Columns()).picking(overlaps))
        return base
    }
}
