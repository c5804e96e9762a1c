import TablesProtocol

/// Turns a decision into the outcome to commit: state, times and policy. Pure, except for the random
/// jitter.
struct Settlement {
    var subject: PushSubject
    /// The number of earlier attempts that failed for the operation's own reason.
    var failures: Int
    var attempts: Int
    var maxAttempts: Int
    var now: Instant
    var origin = RowOrigin()
    /// The wait of the operation's table after this failure; nil if the table did not fail.
    var tableWait: TableWait?
    var random: any RandomSource

    /// The outcome to commit for a decision.
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
                reason: subject.maybeApplied
                    ? "The backend never got it; it is sent again."
                    : "The backend's row is as it was; it is sent.",
                until: now, maybeApplied: false)
        case .merge(_, let row):
            let isSame = subject.base.map { row.columns.changedNames(from: $0).isEmpty } ?? false
            return .rebased(
                onto: row,
                reason: isSame
                    ? "The backend's row has the same values; its version is taken."
                    : "Merged with the backend's changes to other fields.")
        case .conflict(let row, let reason, let policy): return conflict(row, reason, policy)
        case .quarantine(let reason):
            return .quarantined(reason: reason, maybeApplied: subject.maybeApplied)
        case .signIn(let maybeApplied):
            return wait("Waits for a sign-in.", until: now, maybeApplied: maybeApplied)
        case .postponed(let later): return postponed(later)
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
            // Resent only once in a pass. A row that keeps changing waits.
            guard !subject.hasMerged else {
                return wait(reason, until: backoff(attempts), maybeApplied: false)
            }
            return .rebased(
                onto: row, reason: "The table's policy keeps the local change.", overwrites: true)
        }
    }

    private func postponed(_ later: Postponement) -> SettledOutcome {
        switch later.cause {
        case .cancelled, .held:
            return wait(later.reason, until: now, maybeApplied: later.maybeApplied)
        case .link, .requiresSignIn:
            return wait(later.reason, until: backoff(attempts), maybeApplied: later.maybeApplied)
        case .table:
            return wait(
                later.reason, until: timeAfterTable, maybeApplied: later.maybeApplied,
                isRetryAfter: tableWait?.notBefore != nil)
        case .busy(let wait):
            let until = wait.map { now.advanced(by: $0) } ?? backoff(attempts)
            return self.wait(
                later.reason, until: until, maybeApplied: later.maybeApplied,
                isRetryAfter: wait != nil)
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

    /// When an operation is due whose table failed: with the table. After further failures it is due later, so
    /// that another operation of the table is tried first: the failure may be about this one alone.
    private var timeAfterTable: Instant {
        guard let tableWait else { return backoff(attempts) }
        guard attempts > 2 else { return tableWait.until }
        guard tableWait.notBefore == nil else {
            return tableWait.until.advanced(by: .seconds(SyncLimits.tableTurnSeconds))
        }
        return max(tableWait.until, backoff(attempts))
    }

    private func wait(
        _ reason: String, until: Instant, maybeApplied: Bool, isRetryAfter: Bool = false
    ) -> SettledOutcome {
        maybeApplied || subject.maybeApplied
            ? .unknown(reason: reason, until: until, isRetryAfter: isRetryAfter)
            : .waiting(
                reason: reason, until: until, maybeApplied: false, isRetryAfter: isRetryAfter)
    }

    private func backoff(_ failures: Int) -> Instant {
        now.advanced(by: Backoff.operation(failures: failures, random: random))
    }
}

extension Instant {
    /// The instant `duration` later, in whole milliseconds.
    func advanced(by duration: Duration) -> Instant {
        Instant(milliseconds: milliseconds + duration.wholeMilliseconds)
    }
}
