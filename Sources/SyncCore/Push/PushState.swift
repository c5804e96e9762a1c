/// Why a push ended before everything due was tried.
enum PushStop: Sendable, Hashable {
    /// The backend cannot be used now.
    case backend(Prover.Failure)
    case signIn
    case cancelled
    /// The store could not be written.
    case store(String)

    /// One table is not there, or cannot be listed; the others may be.
    var isAboutTable: Bool {
        if case .backend(let failure) = self { return failure.isAboutTable }
        return false
    }
}

/// Where a push stands. It lives as long as the pass: what must survive is in the store.
struct PushState {
    var report = PushReport()
    var stop: PushStop?
    /// The backend gave a list, and nothing has failed since.
    var isProven: Bool
    /// The backend refused the generation's way of asking for a change.
    var refusedDialect = false
    /// Failures of the link in a row.
    var linkFailures = 0
    /// Operations that were due when the pass began.
    var total = 0
    /// Tables declare that items need items of others.
    var hasLinks = false
    /// Turns that are over.
    var turns = 0
    /// Operations that had their turn in this pass.
    var tried: Set<Int64> = []
    /// The seq after which the next operations are looked for.
    var cursor: Int64 = 0
    /// Something closed or was held since the cursor last began at the front, so that an operation
    /// may be due behind it.
    var looksAgain = false
    /// The results as they were last handed out, and when that was.
    var toldResults: [PushReport.Result] = []
    var toldAt: Duration?

    /// How far the pass is; what becomes due on the way is counted when its turn comes.
    var progress: Run.Progress {
        Run.Progress(phase: .push, done: turns, total: max(total, tried.count))
    }

    /// The report as it stands. Its results are as of some moments ago: to hand them out after each
    /// turn is to copy them all after each turn.
    mutating func report(at now: Duration) -> PushReport {
        let gap = Duration.milliseconds(SyncLimits.resultsMilliseconds)
        if toldAt.map({ now - $0 >= gap }) ?? true { (toldAt, toldResults) = (now, report.results) }
        var report = report
        report.results = toldResults
        return report
    }

    /// Counts what became of an operation.
    mutating func note(_ turn: PushTurn) {
        report.sent += turn.requests
        guard !turn.isHeld else {
            tried.remove(turn.seq)
            looksAgain = true
            return
        }
        turns += 1
        if let state = turn.state {
            report.results.append(.init(id: turn.id, state: state))
            // Many at once: dropping the first of an array moves all others.
            if report.results.count >= 2 * StoreLimits.runResults {
                report.results.removeFirst(StoreLimits.runResults)
            }
            switch state {
            case .done: report.applied += 1
            case .conflict: report.conflicts += 1
            case .quarantined: report.quarantined += 1
            case .queued, .sending, .waiting, .unknown, .discarded, .collapsed: break
            }
            looksAgain = looksAgain || !state.isOpen
        }
        stop = stop ?? turn.stop
        refusedDialect = refusedDialect || turn.refusedDialect
        guard let failure = turn.linkFailure else {
            if turn.requests > 0 { linkFailures = 0 }
            return
        }
        isProven = false
        linkFailures += 1
        if linkFailures >= SyncLimits.circuitFailures { stop = stop ?? .backend(failure) }
    }
}

/// What one operation's turn in a push came to.
struct PushTurn: Sendable {
    var id: OperationID
    var seq: Int64
    /// Nothing was sent, since the push had to prove the backend first or ends.
    var isHeld = false
    /// Requests made that carried it.
    var requests = 0
    /// The state that was committed; nil when the operation was left alone.
    var state: OperationState?
    /// The backend refused the generation's way of asking for it.
    var refusedDialect = false
    /// The link or the backend failed, rather than the operation.
    var linkFailure: Prover.Failure?
    var stop: PushStop?
}
