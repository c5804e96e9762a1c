/// What becomes of a write to an item that already has an open operation.
///
/// 1. An operation that may have reached the backend, or may yet reach it, is never changed: the
///    write follows it.
/// 2. Any other is changed in place, or the two cancel each other.
/// 3. A refused (quarantined) one that is changed is due again; a conflict stays a conflict.
enum Collapse {
    /// The last operation of an item's chain, as far as the decision needs it.
    struct Pending: Sendable, Hashable {
        var kind: OperationKind
        var state: OperationState
        /// A request for it may have taken effect, or is on its way.
        var mayHaveReached: Bool
        /// An earlier request for it may still arrive.
        var mayArriveLate = false
        /// The backend had the item when the operation was made.
        var hasBase = true
    }

    /// Decides without looking at any row; pure.
    /// - Parameters:
    ///   - pending: the item's last open operation.
    ///   - new: what is written now.
    ///   - strictSDK: refuse what the SDKs' queues refuse.
    ///   - preservesHistory: an update that is due is sent before the delete that follows it.
    static func decide(
        pending: Pending?, new: OperationKind, strictSDK: Bool = false,
        preservesHistory: Bool = false
    ) -> CollapseDecision {
        guard let pending else { return .append }
        if strictSDK, pending.kind == .delete, new != .undelete {
            return .refuse(.strictSDK(pending: pending.kind, new: new))
        }
        if pending.mayHaveReached { return afterSent(pending.kind, new) }
        if preservesHistory, new == .delete, pending.isDue, pending.changes { return .successor }
        let decision = inPlace(pending, new)
        // The backend has a row of its own there, so deleting mine is one more side of the conflict;
        // or it may get one, which the delete then meets.
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
        // The deletion of an insert that may yet arrive: without it the item is still to be inserted.
        case (.delete, .insert) where !pending.hasBase, (.delete, .update) where !pending.hasBase,
            (.delete, .undelete) where !pending.hasBase, (.delete, .replace) where !pending.hasBase:
            .change(to: .insert)
        case (.delete, .insert), (.delete, .update), (.delete, .undelete): .change(to: .update)
        case (.delete, .replace): .change(to: .replace)
        // Undeleting and changing are two requests.
        case (.undelete, .update), (.undelete, .replace): .successor
        }
    }
}

extension Collapse.Pending {
    /// It will be sent without a person's decision.
    fileprivate var isDue: Bool {
        switch state {
        case .queued, .waiting, .unknown, .sending: true
        case .conflict, .quarantined, .done, .discarded, .collapsed: false
        }
    }

    /// It changes an item that the backend has.
    fileprivate var changes: Bool {
        switch kind {
        case .update, .replace: true
        case .insert, .delete, .undelete: false
        }
    }

    /// What the decision needs of an operation.
    init(_ operation: TableOperation) {
        self.init(
            kind: operation.kind, state: operation.state,
            mayHaveReached: operation.mayHaveReached, mayArriveLate: operation.mayArriveLate,
            hasBase: operation.baseRow != nil)
    }
}

/// What ``Collapse`` decides.
enum CollapseDecision: Sendable, Hashable {
    /// A first operation of its own.
    case append
    /// An operation of its own that is sent after the pending one.
    case successor
    /// The pending operation is changed in place, to this kind.
    case change(to: OperationKind)
    /// The pending operation and the write undo each other.
    case cancel
    /// The item is already as the write wants it.
    case nothing
    /// The write is not accepted.
    case refuse(CollapseRefusal)
}

/// Why a write to an item with an open operation is not accepted.
enum CollapseRefusal: Sendable, Hashable {
    case alreadyExists
    case gone
    /// The SDKs' queues refuse this pair.
    case strictSDK(pending: OperationKind, new: OperationKind)
}
