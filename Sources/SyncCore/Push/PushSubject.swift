import TablesProtocol

/// What a verdict needs to know of an operation.
struct PushSubject: Sendable, Hashable {
    var kind: OperationKind
    var itemID: ItemID
    /// The columns that are changed, with their new values: all of an insert.
    var sent: Columns
    /// The user's columns of the row that the change started from.
    var base: Columns?
    var baseVersion: String?
    /// An earlier request may have reached the backend, and no verdict came.
    var maybeApplied = false
    /// So it was once, and such a request may still arrive.
    var mayArriveLate = false
    /// The id is a UUID that this store made, so that no one else can have used it.
    var madeID = false
    /// The client sent If-Match.
    var conditional = false
    var conflictPolicy = ConflictPolicy.ask
    /// `ask` or `client`: who decides conflicts of writes whose client sent no If-Match.
    var unconditionalPolicy = ConflictPolicy.ask
    /// The backend has had the table: it was pulled, or an operation on it has arrived.
    var tableWasThere = false
    /// The operation was merged and sent again in this pass already: once is enough.
    var hasMerged = false
    /// The row is read before anything is sent: what was sent may have taken effect, or the whole row
    /// would be replaced whatever it is by now.
    var isReadFirst = false
    /// A bug that the simulator has planted, for what is decided without a transaction.
    var mergesTwice = false

    /// The policy that decides a conflict of this operation.
    ///
    /// `deleted` is never merged: only a side can win. What may have taken effect is not merged
    /// either: sent again over a newer value it would take effect twice.
    /// - Parameter isGone: the backend has no such row, or keeps it as deleted.
    func policy(isGone: Bool) -> ConflictPolicy {
        if !conditional, unconditionalPolicy == .client { return .client }
        guard conflictPolicy == .merge else { return conflictPolicy }
        let isMergeable = !isGone && kind != .delete && kind != .undelete
        return isMergeable && (!maybeApplied && !mayArriveLate || mergesTwice) ? .merge : .ask
    }

    /// Whether a row shows all that was sent.
    func isEqual(to row: RemoteRow) -> Bool { row.columns.holds(sent) }

    /// Whether a row is still the one that the change started from.
    ///
    /// The same version alone does not say so: a backend that is restored from an older backup gives
    /// a version a second time. No column that was known may show something else; one that is absent
    /// may be one that the backend never kept.
    func isUnchanged(_ row: RemoteRow) -> Bool {
        if let baseVersion, let version = row.version {
            guard baseVersion.utf8.elementsEqual(version.utf8) else { return false }
            guard !row.isDeleted, let base else { return true }
            return !row.columns.changedNames(from: base).contains { name in
                base[name] != nil && row.columns[name] != nil
            }
        }
        guard let base else { return false }
        return row.columns.holds(base) && base.holds(row.columns)
    }
}
