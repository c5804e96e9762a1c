import TablesProtocol

/// What becomes of an operation after an answer: ``Verdict`` decides it, and ``Settling`` commits it.
enum PushOutcome: Sendable, Hashable {
    /// The backend has applied it. The row becomes the item's server row; nil after a success without a body, or if
    /// the row is gone after a delete.
    case applied(row: RemoteRow?, RowOrigin = RowOrigin())
    /// The backend's row is as it was, so the operation is sent unchanged, at once.
    case sendAgain(reason: String)
    /// Rewritten to start from the backend's present row, and sent at once: after a merge of different columns, and
    /// where a policy keeps the local change. If the row is nil, the operation becomes an insert.
    /// - overwrites: whether a policy lets the local change win over the backend's.
    case rebased(onto: RemoteRow?, reason: String, overwrites: Bool = false)
    /// There is no verdict: tried again later.
    case postponed(Postponement)
    /// Both sides changed the row, and a person decides. A nil or deleted row means that the backend has none.
    case conflict(server: RemoteRow?, reason: String)
    /// A policy takes the backend's row and discards the local change.
    case discarded(server: RemoteRow?, reason: String)
    /// The backend refuses the operation; a person decides.
    case quarantined(reason: String, maybeApplied: Bool = false)

    /// The backend's row in it.
    var row: RemoteRow? {
        switch self {
        case .applied(let row, _), .rebased(let row, _, _), .conflict(let row, _),
            .discarded(let row, _):
            row
        case .sendAgain, .postponed, .quarantined: nil
        }
    }

    /// Why it is tried again later; nil for another outcome.
    var cause: Postponement.Cause? {
        if case .postponed(let later) = self { later.cause } else { nil }
    }

    /// Whether the row that was read is written next.
    var isSentNext: Bool {
        switch self {
        case .sendAgain, .rebased(.some, _, overwrites: false): true
        case .applied, .rebased, .postponed, .conflict, .discarded, .quarantined: false
        }
    }

    /// No verdict, for a reason of the operation's own.
    static func postponed(maybeApplied: Bool, _ reason: String) -> PushOutcome {
        .postponed(Postponement(cause: .own, maybeApplied: maybeApplied, reason: reason))
    }
}

/// Why an operation is tried again later, and when.
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
        /// The row has changed once more, after a policy kept the local change in this pass.
        case contended
        /// The table requires a sign-in that other tables do not require, and there is no token.
        case requiresSignIn
        /// The identity must sign in. Nothing is sent for it until then.
        case signIn
        case cancelled
        /// The operation was marked in flight but not sent, because another request failed first or the
        /// push ended.
        case held

        /// Whether the next operation would get the same answer, so that the push ends.
        var endsPush: Bool { self == .signIn || self == .cancelled }
    }
    var cause: Cause
    /// Whether the request may have reached the backend.
    var maybeApplied = false
    var reason: String
    /// When it is due; nil until ``RetryTimes`` has set it.
    var until: Instant?
    /// Whether the backend named that time.
    var isRetryAfter = false

    /// The operation waits for a sign-in.
    /// - Parameter maybeApplied: it may have been if it failed, and the proof that followed was answered with 401.
    static func signIn(maybeApplied: Bool = false) -> Postponement {
        Postponement(cause: .signIn, maybeApplied: maybeApplied, reason: "Waits for a sign-in.")
    }
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
