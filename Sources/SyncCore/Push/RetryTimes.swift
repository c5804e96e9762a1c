import TablesProtocol

/// When a postponed operation is tried again, and after how many tries a person decides. Pure, except for the
/// random jitter.
struct RetryTimes {
    /// Whether an earlier request may have reached the backend without a verdict.
    var maybeApplied = false
    /// Whether the last request only read. It changes nothing at the backend, whatever came of it.
    var isRead = false
    /// The number of earlier attempts that failed for the operation's own reason.
    var failures = 0
    /// How the last request ended that was to change something; nil if none was sent.
    var written: AttemptEnd?
    var attempts: Int
    var maxAttempts: Int
    var now: Instant
    /// The wait of the operation's table after this failure; nil if the table did not fail.
    var tableWait: TableWait?
    var random: any RandomSource

    /// The outcome with the time of the next attempt, if there is one, and with what earlier requests may have done.
    func outcome(_ outcome: PushOutcome) -> PushOutcome {
        switch outcome {
        case .postponed(let later): return timed(later)
        case .quarantined(let reason, let maybe):
            return .quarantined(reason: reason, maybeApplied: maybe || maybeApplied)
        case .applied, .sendAgain, .rebased, .conflict, .discarded: return outcome
        }
    }

    private func timed(_ postponement: Postponement) -> PushOutcome {
        var later = postponement
        later.maybeApplied = later.maybeApplied && !isRead || maybeApplied
        switch later.cause {
        case .cancelled, .held, .signIn: later.until = now
        case .link, .contended, .requiresSignIn: later.until = backoff(attempts)
        case .table:
            later.until = timeAfterTable
            later.isRetryAfter = tableWait?.notBefore != nil
        case .busy(let wait):
            later.until = wait.map { now.advanced(by: $0) } ?? backoff(attempts)
            later.isRetryAfter = wait != nil
        case .own:
            guard failures + 1 < maxAttempts else {
                return .quarantined(
                    reason: "\(written?.sentence ?? later.reason) Tried \(failures + 1) times.",
                    maybeApplied: written?.isRefusal != true && later.maybeApplied)
            }
            later.until = backoff(failures + 1)
        }
        return .postponed(later)
    }

    /// When an operation is due after its table failed: when the table is. After further failures the operation is
    /// due later, so that another one of the table is tried first. The failure may be about this one alone.
    private var timeAfterTable: Instant {
        guard let tableWait else { return backoff(attempts) }
        guard attempts > 2 else { return tableWait.until }
        guard tableWait.notBefore == nil else {
            return tableWait.until.advanced(by: .seconds(SyncLimits.tableTurnSeconds))
        }
        return max(tableWait.until, backoff(attempts))
    }

    private func backoff(_ failures: Int) -> Instant {
        now.advanced(by: Backoff.operation(failures: failures, random: random))
    }
}

extension AttemptEnd {
    /// Whether the backend refused the request, so that it changed nothing.
    var isRefusal: Bool {
        let isOfTables = fields.contains { $0.lowercased().hasPrefix("x-zumo-server-version:") }
        return [404, 409, 410, 412].contains(status)
            && !AnswerReader.isPage(Array((response ?? "").utf8), isOfTables: isOfTables)
    }

    /// The message of the answer; nil without one.
    var message: String? {
        let text = AnswerReader.message(in: Array((response ?? "").utf8))
        return text.isEmpty ? nil : text
    }

    /// What came of the request; nil if nothing is known.
    var sentence: String? {
        guard let status else { return error }
        let text = AnswerReader.message(in: Array((response ?? "").utf8))
        return "The backend answered \(status)\(Verdict.detail(text))"
    }
}

extension Instant {
    /// The instant `duration` later, in whole milliseconds.
    func advanced(by duration: Duration) -> Instant {
        Instant(milliseconds: milliseconds + duration.wholeMilliseconds)
    }
}
