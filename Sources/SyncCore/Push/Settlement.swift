import TablesProtocol

/// Turns a decision into what is committed: states, times and policies. Pure but for the jitter.
struct Settlement {
    var subject: PushSubject
    /// Attempts that failed by the operation's own fault, this one not counted.
    var failures: Int
    var attempts: Int
    var maxAttempts: Int
    var now: Instant
    var origin = RowOrigin()
    var random: any RandomSource

    /// What is committed for a decision.
    func outcome(_ decision: PushDecision) -> SettledOutcome {
        switch decision {
        case .applied(let row):
            return .applied(row: row, origin)
        case .insertAgain:
            return .rebased(
                onto: nil, reason: "The backend has no such item any more; it is inserted again.")
        case .readBack:
            return .unknown(reason: "The row has to be read back.", until: now)
        case .sendAgain:
            return .waiting(
                reason: "The backend never got it; it is sent again.", until: now,
                maybeApplied: false)
        case .merge(_, let row):
            return .rebased(onto: row, reason: "Merged with the backend's changes to other fields.")
        case .conflict(let row, let reason, let policy): return conflict(row, reason, policy)
        case .quarantine(let reason):
            return .quarantined(reason: reason, maybeApplied: subject.maybeApplied)
        case .signIn(let maybeApplied):
            return wait("Waits for a sign-in.", until: now, maybeApplied: maybeApplied)
        case .later(let later): return self.later(later)
        }
    }

    private func conflict(
        _ row: RemoteRow?, _ reason: String, _ policy: ConflictPolicy
    ) -> SettledOutcome {
        switch policy {
        case .ask: return .conflict(server: row, reason: reason)
        case .server:
            return .discarded(server: row, reason: "The table's policy takes the backend's row.")
        case .client, .merge:
            // Once in a turn; a row that keeps moving waits.
            guard !subject.hasMerged else {
                return wait(reason, until: backoff(attempts), maybeApplied: false)
            }
            return .rebased(onto: row, reason: "The table's policy keeps the local change.")
        }
    }

    private func later(_ later: Later) -> SettledOutcome {
        switch later.cause {
        case .cancelled, .held:
            return wait(later.reason, until: now, maybeApplied: later.maybeApplied)
        case .link, .wantsSignIn:
            return wait(later.reason, until: backoff(attempts), maybeApplied: later.maybeApplied)
        case .busy(let wait):
            let until = wait.map { now.advanced(by: $0) } ?? backoff(attempts)
            return self.wait(
                later.reason, until: until, maybeApplied: later.maybeApplied, isAsked: wait != nil)
        case .own:
            guard failures + 1 < maxAttempts else {
                return .quarantined(
                    reason: "\(later.reason) Tried \(failures + 1) times.",
                    maybeApplied: later.maybeApplied || subject.maybeApplied)
            }
            return wait(
                later.reason, until: backoff(failures + 1), maybeApplied: later.maybeApplied)
        }
    }

    private func wait(
        _ reason: String, until: Instant, maybeApplied: Bool, isAsked: Bool = false
    ) -> SettledOutcome {
        maybeApplied || subject.maybeApplied
            ? .unknown(reason: reason, until: until, isAsked: isAsked)
            : .waiting(reason: reason, until: until, maybeApplied: false, isAsked: isAsked)
    }

    private func backoff(_ failures: Int) -> Instant {
        now.advanced(by: Backoff.operation(failures: failures, random: random))
    }
}

extension Instant {
    /// The instant so much later, to the millisecond.
    func advanced(by duration: Duration) -> Instant {
        let (seconds, attoseconds) = duration.components
        return Instant(
            milliseconds: milliseconds + seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
