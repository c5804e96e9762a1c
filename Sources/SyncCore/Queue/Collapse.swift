import TablesProtocol

/// Decides what a write does to the open operation of its item.
///
/// 1. An operation that may have reached the backend, or may still reach it, is never changed. The write
///    becomes its successor.
/// 2. Any other operation is changed in place, or it and the write cancel each other.
/// 3. A refused (quarantined) operation that is changed is due again. A conflict stays a conflict.
/// 4. An update does not move back across a later insert of another item, which it may refer to.
enum Collapse {
    /// What a decision needs besides the two operations.
    struct Rules: Sendable, Hashable {
        /// Whether to refuse what the SDKs' queues refuse.
        var strictSDK = false
        /// Whether an update that is due is sent before the delete that follows it.
        var sendsUpdateFirst = false
        /// Whether an open insert of another item came between the two.
        var crossesInsert = false
    }

    /// The item's last open operation, as far as the decision needs it.
    struct Pending: Sendable, Hashable {
        var kind: OperationKind
        var state: OperationState
        /// Whether a request for it may have taken effect or is in flight.
        var mayHaveReached: Bool
        /// Whether an earlier request for it may still arrive.
        var mayArriveLate = false
        /// Whether the backend had the item when the operation was made.
        var hasBase = true
    }

    /// Decides without reading any row. Pure.
    /// - Parameters:
    ///   - pending: the item's last open operation; nil if there is none.
    ///   - new: what the write does.
    static func decide(
        pending: Pending?, new: OperationKind, _ rules: Rules = Rules()
    ) -> CollapseDecision {
        guard let pending else { return .append }
        if rules.strictSDK, pending.kind == .delete, new != .undelete {
            return .refuse(.strictSDK(pending: pending.kind, new: new))
        }
        if pending.mayHaveReached { return afterSent(pending.kind, new) }
        if rules.sendsUpdateFirst, new == .delete, pending.isDue, pending.changes {
            return .successor
        }
        if rules.crossesInsert, pending.isDue, pending.kind != .delete, new.changes {
            return .successor
        }
        let decision = inPlace(pending, new)
        // In a conflict, the backend has a row of its own, so the delete becomes my side of the conflict.
        // If the insert still arrives, the backend gets a row, which the delete then removes.
        return (pending.state == .conflict || pending.mayArriveLate) && decision == .cancel
            ? .change(to: .delete) : decision
    }

    private static func afterSent(
        _ pending: OperationKind, _ new: OperationKind
    ) -> CollapseDecision {
        switch (pending, new) {
        case (.delete, .insert), (.delete, .undelete): .successor
        case (.delete, .update), (.delete, .replace): .refuse(.gone)
        case (.delete, .delete): .nothing
        case (.insert, .insert), (.update, .insert), (.replace, .insert), (.undelete, .insert):
            .refuse(.alreadyExists)
        case (.insert, .undelete), (.update, .undelete), (.replace, .undelete),
            (.undelete, .undelete):
            .nothing
        case (.insert, .update), (.insert, .replace), (.insert, .delete), (.update, .update),
            (.update, .replace), (.update, .delete), (.replace, .update), (.replace, .replace),
            (.replace, .delete), (.undelete, .update), (.undelete, .replace), (.undelete, .delete):
            .successor
        }
    }

    private static func inPlace(_ pending: Pending, _ new: OperationKind) -> CollapseDecision {
        switch (pending.kind, new) {
        case (.insert, .insert), (.update, .insert), (.replace, .insert), (.undelete, .insert):
            .refuse(.alreadyExists)
        case (.insert, .undelete), (.update, .undelete), (.replace, .undelete),
            (.undelete, .undelete), (.delete, .delete):
            .nothing
        case (.insert, .update), (.insert, .replace): .change(to: .insert)
        case (.insert, .delete), (.undelete, .delete): .cancel
        case (.update, .update): .change(to: .update)
        case (.update, .replace), (.replace, .update), (.replace, .replace):
            .change(to: .replace)
        case (.update, .delete), (.replace, .delete): .change(to: .delete)
        // The deleted insert may still arrive. Until then the item has to be inserted.
        case (.delete, .insert) where !pending.hasBase, (.delete, .update) where !pending.hasBase,
            (.delete, .undelete) where !pending.hasBase, (.delete, .replace) where !pending.hasBase:
            .change(to: .insert)
        case (.delete, .insert), (.delete, .update), (.delete, .undelete): .change(to: .update)
        case (.delete, .replace): .change(to: .replace)
        // Undelete and change are two requests.
        case (.undelete, .update), (.undelete, .replace): .successor
        }
    }
}

extension Collapse.Pending {
    /// Whether the operation will be sent without a person's decision.
    fileprivate var isDue: Bool {
        switch state {
        case .queued, .waiting, .unknown, .sending: true
        case .conflict, .quarantined, .done, .discarded, .collapsed: false
        }
    }

    /// Whether the operation changes an item that the backend has.
    fileprivate var changes: Bool { kind.changes }

    init(_ operation: TableOperation) {
        self.init(
            kind: operation.kind, state: operation.state,
            mayHaveReached: operation.takesNoChange, mayArriveLate: operation.mayArriveLate,
            hasBase: operation.baseRow != nil)
    }
}

/// The decision of ``Collapse``.
enum CollapseDecision: Sendable, Hashable {
    /// The item's first open operation.
    case append
    /// A new operation that is sent after the pending one.
    case successor
    /// Change the pending operation in place, to this kind.
    case change(to: OperationKind)
    /// Close the pending operation: the write undoes it.
    case cancel
    /// The item is already as the write would make it: no operation is needed.
    case nothing
    case refuse(CollapseRefusal)
}

/// Why a write to an item with an open operation is refused.
enum CollapseRefusal: Sendable, Hashable {
    case alreadyExists
    case gone
    /// The SDKs' queues refuse this pair.
    case strictSDK(pending: OperationKind, new: OperationKind)
}

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
        /// Another writer changed these columns too. The list is empty if the row as a whole conflicts: it is gone,
        /// or it was changed and the operation deletes it.
        case overlap([String])
    }

    /// The backend's row that the next operation is sent over.
    private(set) var server: ServerSide
    private let owner: String?
    /// The same row, plus the sent columns that the backend does not keep.
    private var includingSent: ServerSide
    /// The same row, without changes that the backend itself made to what was sent.
    private var withoutOwnChanges: ServerSide
    /// The columns that the backend added to a new row.
    private var defaults = Columns()

    /// - Parameter owner: see ``BackendBinding/owner()``.
    init(_ server: ServerSide, owner: String?, after predecessor: Predecessor?) {
        self.server = server
        self.owner = owner
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
                base: base(of: operation).filled(from: defaults),
                changes: operation.changes, theirs: includingSent.columns ?? Columns())
            return merge.overlaps.isEmpty ? .noOverlap : .overlap(merge.overlaps)
        case .delete:
            guard server.isLive, let columns = withoutOwnChanges.columns else { return .noOverlap }
            let base = base(of: operation)
            return columns.changedNames(from: base).isEmpty ? .noOverlap : .overlap([])
        }
    }

    /// The columns that the client saw, with the new id of a user whose rows have moved
    /// (``Columns/following(_:of:changing:)``).
    private func base(of operation: TableOperation) -> Columns {
        (operation.baseRow ?? Columns()).following(
            owner, of: server.columns ?? Columns(), changing: operation.changes)
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

    /// The new base of an operation that overlaps and has another open operation before it. It is the row over which
    /// the operation will be sent, except for the overlapping columns: they keep the values that the client saw, so
    /// that they are judged again later.
    func base(of operation: TableOperation, without overlaps: [String]) -> Columns? {
        guard var base = server.columns, !overlaps.isEmpty else { return operation.baseRow }
        base.merge((operation.baseRow ?? Columns()).picking(overlaps))
        return base
    }
}
