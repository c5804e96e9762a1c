import TablesProtocol

/// What a verdict needs to know of an operation.
struct PushSubject: Sendable, Hashable {
    var kind: OperationKind
    var itemID: ItemID
    /// The columns that are sent: all of an insert or replace, the changed ones of an update.
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
    /// The operation was merged and sent again in this pass already: once is enough.
    var hasMerged = false

    /// The policy that decides a conflict of this operation.
    var policy: ConflictPolicy {
        !conditional && unconditionalPolicy == .client ? .client : conflictPolicy
    }

    /// Whether a row shows all that was sent.
    func isEqual(to row: RemoteRow) -> Bool { row.columns.holds(sent) }

    /// Whether a row is still the one that the change started from.
    ///
    /// The same version alone does not say so: a backend that is restored from an older backup gives
    /// a version a second time. What was known of the row must still be there.
    func isUnchanged(_ row: RemoteRow) -> Bool {
        if let baseVersion, let version = row.version {
            guard baseVersion.utf8.elementsEqual(version.utf8) else { return false }
            return row.isDeleted || base.map(row.columns.holds) ?? true
        }
        guard let base else { return false }
        return row.columns.holds(base) && base.holds(row.columns)
    }
}
