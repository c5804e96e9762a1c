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

/// What is to be done about an operation after an answer.
enum PushDecision: Sendable, Hashable {
    /// The backend has it. The row is laid over the local one; none came with an empty success, or
    /// the row is gone after a delete.
    case applied(RemoteRow?)
    /// The row must be read back before anything can be said.
    case readBack
    /// The read-back shows that it never took effect: send it as it is.
    case sendAgain
    /// Their changes and mine are disjoint: send what is left of mine over their row, once.
    case merge(Columns, onto: RemoteRow)
    /// The backend does not have the row that is to be restored: insert it.
    case insertAgain
    /// Both sides changed the row; `row` is theirs, nil when it is gone. A policy may decide at once.
    case conflict(RemoteRow?, reason: String, decidedBy: ConflictPolicy)
    /// The backend refuses it; a person decides.
    case quarantine(reason: String)
    /// No verdict: later again.
    case later(Later)
    /// The identity must sign in; nothing of it is sent until then.
    /// - maybeApplied: the request may have reached the backend: it failed before the proof after it was
    ///   answered 401.
    case signIn(maybeApplied: Bool)

    /// Whether the operation itself failed, without a verdict.
    var isOwnFailure: Bool {
        if case .later(let later) = self { later.cause == .own } else { false }
    }

    /// Whether the answer ends the push: the next operation would fare no better.
    var endsPush: Bool {
        switch self {
        case .signIn: true
        case .later(let later): later.cause == .cancelled
        case .applied, .readBack, .sendAgain, .merge, .insertAgain, .conflict, .quarantine: false
        }
    }
}

/// Why an operation has to wait.
struct Later: Sendable, Hashable {
    /// Whose failure it is.
    enum Cause: Sendable, Hashable {
        /// The way to the backend: counts to the circuit.
        case link
        /// The backend has no time: counts to the circuit; it may have said how long.
        case busy(retryAfter: Duration?)
        /// The operation's own, if the backend otherwise answers: a proof tells.
        case own
        /// The table wants a sign-in that others do not want, and there is no token to send.
        case wantsSignIn
        /// The request was called off.
        case cancelled
        /// It was marked in flight, and not sent since another one's request failed or the push ended.
        case held
    }
    var cause: Cause
    /// The request may have reached the backend.
    var maybeApplied: Bool
    /// Plain words.
    var reason: String
}

/// How a row of the backend came to us, as far as it tells more than its columns.
struct RowOrigin: Sendable, Hashable {
    /// It has every column; otherwise absent ones are unchanged.
    var isWhole = true
    /// It is the answer to our own insert or conditional request, so that no other writer has a part
    /// in it; a row that was read back may hold other writers' changes.
    var isOwnAnswer = false
}
