import TablesProtocol

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
        /// It was promised, and not sent since another one's request failed or the push ended.
        case held
    }
    var cause: Cause
    /// The request may have reached the backend.
    var maybeApplied: Bool
    /// Plain words.
    var reason: String
}
