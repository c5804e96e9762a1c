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
