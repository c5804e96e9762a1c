import TablesProtocol

/// What a verdict needs from an operation and its table's policies.
struct PushSubject: Sendable, Hashable {
    var kind: OperationKind
    var itemID: ItemID
    /// The changed columns with their new values; all columns of an insert.
    var sent: Columns
    /// The user's columns of the row that the change started from.
    var base: Columns?
    var baseVersion: String?
    /// See ``BackendBinding/owner()``.
    var owner: String?
    /// Whether an earlier request may have reached the backend without a verdict.
    var maybeApplied = false
    /// Whether such a request was made at some time, and may still arrive.
    var mayArriveLate = false
    /// Whether this store generated the id as a UUID, so that no other writer can have used it.
    var hasGeneratedID = false
    /// Whether the client sent a condition, such as If-Match.
    var conditional = false
    var conflictPolicy = ConflictPolicy.ask
    /// See ``TableStatus/unconditionalPolicy``.
    var unconditionalPolicy = ConflictPolicy.ask
    /// Whether the table has existed on the backend: it was pulled, or an operation on it was applied.
    var tableExistedBefore = false
    /// Whether this pass has already merged and resent the operation. It does so only once.
    var hasMerged = false
    /// Whether the row is read before anything is sent, because an earlier request may have taken effect,
    /// or because the row's version is not known, so that the request would have no condition.
    var isReadFirst = false
    /// Whether an undelete inserts the item if the backend has no such row: a person asked for it.
    var insertsIfGone = false
    /// When the backend's row was created, in a table with integer ids; nil where that is not known.
    var createdAt: String?
    /// The id above which the row of an insert with an integer id is looked for (``RowClaims``).
    var highestID: Int64 = 0
    /// What pushes have lately replaced of the row, once it is read.
    var replaced = ReplacedRows()
    /// Whether the backend must have the row, deleted or not, so that an answer without it is doubted for a while.
    var mustExist = false

    /// The policy that decides a conflict of this operation.
    ///
    /// Under `merge` a person decides if either side deleted the row, and for an operation that may have
    /// taken effect or may still arrive: sending it over a newer value would apply it twice.
    /// - Parameter isGone: whether the backend has no such row, or keeps it as deleted.
    func policy(isGone: Bool) -> ConflictPolicy {
        if !conditional, unconditionalPolicy == .client { return .client }
        guard conflictPolicy == .merge else { return conflictPolicy }
        let isMergeable = !isGone && kind != .delete && kind != .undelete
        return isMergeable && !maybeApplied && !mayArriveLate ? .merge : .ask
    }

    /// Whether it is an insert whose id the backend assigns.
    var isAssigned: Bool { kind == .insert && itemID.kind == .integer }

    /// Whether nothing is known of the row that is deleted.
    var isUnknownRow: Bool { baseVersion == nil && base == nil }

    /// Whether an answer refuses the operation for another reason than the row's version: the row is still the
    /// one that the operation started from.
    func isRefused(_ refused: Refused, beside row: RemoteRow) -> Bool {
        switch kind {
        // The row has the insert's id, and that is the reason.
        case .insert: return false
        case .update, .replace: return !row.isDeleted && isUnchanged(row)
        case .delete: return !row.isDeleted && (isUnknownRow || isUnchanged(row))
        // The backend shows the row as deleted and refuses to bring it back.
        case .undelete: return row.isDeleted && (refused.isMissing || isUnchanged(row))
        }
    }

    /// Whether a row that was read back is older than what the backend answered before.
    ///
    /// 1. It is as it was before a push of this store.
    /// 2. It has the version that was sent, and a 412 names another one. Any other 404, 410 or 412 may be about what
    ///    an earlier request of the operation has left, if that may have been applied.
    func isOlder(_ row: RemoteRow, than cause: Verdict.ReadBackCause) -> Bool {
        if replaced.contains(version: row.version, updatedAt: row.updatedAt) { return true }
        guard case .refused(let refused) = cause, let baseVersion, baseVersion == row.version
        else { return false }
        if refused.status == 412, let version = refused.version { return version != baseVersion }
        return mayArriveLate && refused.status != 409
    }

    /// This operation with a base that has the new id of a user whose rows have moved
    /// (``Columns/following(_:of:changing:)``).
    func following(_ row: RemoteRow) -> PushSubject {
        var subject = self
        subject.base = base?.following(owner, of: row.columns, changing: sent)
        return subject
    }

    func isEqual(to row: RemoteRow) -> Bool { row.columns.holds(sent) }

    /// Whether a row is still the row that the change started from.
    ///
    /// Equal versions are not enough: a backend that is restored from an older backup issues a version a
    /// second time. So no column of the base may have another value. A column that is absent from the row
    /// is accepted, because the backend may never have stored it.
    func isUnchanged(_ row: RemoteRow) -> Bool {
        if let baseVersion, let version = row.version {
            guard baseVersion.utf8.elementsEqual(version.utf8) else { return false }
            guard !row.isDeleted, let base else { return true }
            let (before, now) = (ColumnValues(base), ColumnValues(row.columns))
            return !row.columns.changedNames(from: base).contains { name in
                before[name] != nil && now[name] != nil
            }
        }
        guard let base else { return false }
        return row.columns.holds(base) && base.holds(row.columns)
    }
}

/// What happens to an operation after an answer.
enum PushDecision: Sendable, Hashable {
    /// The backend has applied the operation. The row becomes the item's server row. It is nil after a
    /// success without a body, or if the row is gone after a delete.
    case applied(RemoteRow?)
    /// The row must be read back before the outcome is known.
    case readBack
    /// The read-back shows that the request never took effect: send it again unchanged.
    case sendAgain
    /// The two sides changed different columns: send my remaining changes over the server's row, once.
    case merge(Columns, onto: RemoteRow)
    /// The backend has no row to undelete: insert the item instead.
    case insertAgain
    /// Both sides changed the row. `row` is the server's, nil if it is gone. The policy may decide at once.
    case conflict(RemoteRow?, reason: String, decidedBy: ConflictPolicy)
    /// The backend refuses the operation; a person decides.
    case quarantine(reason: String)
    /// There is no verdict: try again later.
    case postponed(Postponement)
    /// The identity must sign in. Nothing is sent for it until then.
    /// - maybeApplied: whether the request may have reached the backend. It may have if it failed, and the
    ///   proof that followed was answered with 401.
    case signIn(maybeApplied: Bool)

    /// Whether the operation itself failed, without a verdict.
    var isOwnFailure: Bool {
        if case .postponed(let later) = self { later.cause == .own } else { false }
    }

    /// Whether the row that was read is written next.
    var isSentNext: Bool {
        switch self {
        case .sendAgain, .merge: true
        case .applied, .readBack, .insertAgain, .conflict, .quarantine, .postponed, .signIn: false
        }
    }

    /// Whether the answer ends the push because the next operation would get the same answer.
    var endsPush: Bool {
        switch self {
        case .signIn: true
        case .postponed(let later): later.cause == .cancelled
        case .applied, .readBack, .sendAgain, .merge, .insertAgain, .conflict, .quarantine: false
        }
    }
}

/// Why an operation is tried again later.
struct Postponement: Sendable, Hashable {
    enum Cause: Sendable, Hashable {
        /// The connection to the backend. Counts to the circuit.
        case link
        /// The backend as a whole does not answer requests now (``Later/backend``, or a proof failed). It may
        /// have named a wait. Counts to the circuit.
        case busy(retryAfter: Duration?)
        /// The backend fails for this table (502, 503, 504), if a proof shows that it otherwise answers. It
        /// may have named a wait.
        case table(retryAfter: Duration?)
        /// This operation alone, if a proof shows that the backend otherwise answers.
        case own
        /// The table requires a sign-in that other tables do not require, and there is no token.
        case requiresSignIn
        case cancelled
        /// The operation was marked in flight but not sent, because another request failed first or the
        /// push ended.
        case held
    }
    var cause: Cause
    /// Whether the request may have reached the backend.
    var maybeApplied: Bool
    var reason: String
}

/// How a row of the backend was received, which says what may be missing in it.
struct RowOrigin: Sendable, Hashable {
    /// Whether the row has every column. If not, absent columns are unchanged.
    var isWhole = true
    /// Whether the row answers our own insert or conditional request, so that it contains no other writer's
    /// change. A row that was read back may contain such changes.
    var isOwnAnswer = false
    /// The columns that the write or its answer had, and that the row, read afterwards, has not.
    var unread: [String] = []
    /// Whether the row was read after its delete, and the backend does not have it any more.
    var isReadAsGone = false
}
