import Synchronization
import TablesProtocol

/// Why a push ended before everything due was tried.
enum PushStop: Sendable, Hashable {
    /// The backend cannot be used now.
    case backend(Prover.Failure)
    case signIn
    case cancelled
    /// It made way for other work. The rest is still due.
    case yielded
    /// The store could not be written.
    case store(String)

    /// Whether only one table is missing or cannot be listed. Other tables may still work.
    var isAboutTable: Bool {
        if case .backend(let failure) = self { return failure.isAboutTable }
        return false
    }
}

/// The state of a push while the pass runs. Everything that must survive it is in the store.
struct PushState {
    var report = PushReport()
    var stop: PushStop?
    /// Whether the backend gave a list, and nothing has failed since.
    var isProven: Bool
    /// Whether the backend refused the protocol version of a change.
    var refusedProtocolVersion = false
    var linkFailures = 0
    /// Operations that were due when the pass began.
    var total = 0
    /// Whether any table declares columns that name items of other tables.
    var hasDependencies = false
    var finished = 0
    /// The operations that this pass has tried, by `seq`.
    var tried: Set<Int64> = []
    /// The `seq` after which the next operations are read.
    var cursor: Int64 = 0
    /// Whether an operation may be due before the cursor, because one closed or was held since the last
    /// read from the start.
    var mustReadFromStart = false
    /// The operations that the backend has refused in this pass, by `seq`, and how many were applied before
    /// each was tried.
    var refused: [(seq: Int64, applied: Int)] = []
    /// The refused operations that are tried once more, because others were applied in between.
    var again: [Int64] = []
    /// The results as last reported, and when.
    var reportedResults: [PushReport.Result] = []
    var reportedAt: Duration?

    /// Ends the first part of the pass: what was refused before another operation was applied is tried once
    /// more. It may have needed that one.
    mutating func takeRefused() {
        let applied = report.applied
        again = refused.filter { applied > $0.applied }.map(\.seq).sorted()
        refused = []
    }

    /// How far the pass is. Operations that become due during the pass count when they are tried.
    var progress: RunProgress {
        RunProgress(phase: .push, done: finished, total: max(total, tried.count))
    }

    /// The report at `now`. Its results may be ``SyncLimits/resultsMilliseconds`` old: copying them after
    /// every operation would be slow.
    mutating func report(at now: Duration) -> PushReport {
        let gap = Duration.milliseconds(SyncLimits.resultsMilliseconds)
        if reportedAt.map({ now - $0 >= gap }) ?? true {
            (reportedAt, reportedResults) = (now, report.results)
        }
        var report = report
        report.results = reportedResults
        return report
    }

    mutating func record(_ pushed: PushedOperation) {
        report.sent += pushed.requests
        guard !pushed.isHeld else {
            tried.remove(pushed.seq)
            mustReadFromStart = true
            return
        }
        if pushed.mayHavePassedOver { mustReadFromStart = true }
        if !pushed.isSecondTry { finished += 1 }
        if let state = pushed.state {
            if pushed.isSecondTry {
                report.quarantined -= 1
                report.results.removeAll { $0.id == pushed.id }
            } else if pushed.isRefusal, state == .quarantined {
                refused.append((pushed.seq, pushed.appliedBefore))
            }
            report.results.append(.init(id: pushed.id, state: state))
            // Removes many at once, because removing the first of an array moves all others.
            if report.results.count >= 2 * StoreLimits.runResults {
                report.results.removeFirst(StoreLimits.runResults)
            }
            switch state {
            case .done: report.applied += 1
            case .conflict: report.conflicts += 1
            case .quarantined: report.quarantined += 1
            case .queued, .sending, .waiting, .unknown, .discarded, .collapsed: break
            }
            mustReadFromStart = mustReadFromStart || !state.isOpen
        }
        stop = stop ?? pushed.stop
        refusedProtocolVersion = refusedProtocolVersion || pushed.refusedProtocolVersion
        guard let failure = pushed.linkFailure else {
            if pushed.requests > 0 { linkFailures = 0 }
            return
        }
        isProven = false
        linkFailures += 1
        // A time that the backend named forbids the proof, and one that has failed is not repeated.
        let mayProve = !failure.forbidsRequests && !failure.hasFailedProof
        if linkFailures >= SyncLimits.circuitFailures || !mayProve {
            stop = stop ?? .backend(failure)
        }
    }
}

struct PushedOperation: Sendable {
    var id: OperationID
    var seq: Int64
    /// The operation of the same item that may be sent now that this one is closed, by `seq`.
    var follower: Int64?
    /// How many operations the pass had applied before this one was tried.
    var appliedBefore = 0
    /// Whether the backend refused it earlier in this pass.
    var isSecondTry = false
    /// Whether the backend refused it with a verdict, so that it has no effect and can have none later.
    var isRefusal = false
    /// Whether nothing was sent, because the push ended or had to prove the backend first.
    var isHeld = false
    /// The number of attempts for the operation, including those that only read its row back.
    var requests = 0
    /// The state that was committed; nil if the operation was not changed.
    var state: OperationState?
    /// Whether the backend refused the protocol version of the request.
    var refusedProtocolVersion = false
    /// The backend's answer to the last request that was to change something; nil without one.
    var answer: RemoteExchange?
    /// Whether operations of its table may have been passed over while it was tried.
    var mayHavePassedOver = false
    /// Why the link or the backend failed; nil if the failure was the operation's own or its table's, or there
    /// was none.
    var linkFailure: Prover.Failure?
    var stop: PushStop?
}

/// Asks a pass to end after the request in flight. The answer to that request is still committed.
final class CancelFlag: Sendable {
    private let flag = Mutex(false)

    /// Whether the pass has to end.
    var isSet: Bool { flag.withLock { $0 } }

    /// Ends the pass at its next step.
    func set() { flag.withLock { $0 = true } }
}

/// The tables that the backend fails for, as one push sees them.
///
/// While a table's wait lasts, none of its operations is sent. After the wait, one operation at a time is tried
/// until the backend has answered one. So each wait costs one request, however many operations are queued.
final class TableGates: Sendable {
    private enum Gate {
        /// Its wait is over; `isInFlight`: an operation is being tried.
        case trying(isInFlight: Bool)
        /// It waits; until when is not known before the failure is committed.
        case closed(until: Instant?)
    }
    /// By the tables' numbers; the other tables are open.
    private let gates: Mutex<[Int64: Gate]>

    init(_ waits: [Int64: TableWait], now: Instant) {
        gates = Mutex(
            waits.mapValues {
                $0.until > now ? .closed(until: $0.until) : .trying(isInFlight: false)
            })
    }

    /// Whether an operation of the table may be started now. One that is tried counts as started.
    func admit(_ table: Int64) -> Bool {
        gates.withLock { gates in
            switch gates[table] {
            case nil: return true
            case .closed, .trying(isInFlight: true): return false
            case .trying(isInFlight: false):
                gates[table] = .trying(isInFlight: true)
                return true
            }
        }
    }

    /// Whether the table has failed, so that nothing more of it is sent.
    func isClosed(_ table: Int64) -> Bool {
        gates.withLock { if case .closed = $0[table] { true } else { false } }
    }

    /// Whether the table failed before and no success is known since.
    func hasFailed(_ table: Int64) -> Bool { gates.withLock { $0[table] != nil } }

    func close(_ table: Int64, until: Instant? = nil) {
        gates.withLock { $0[table] = .closed(until: until) }
    }

    /// Opens a table, because the backend has answered a write to it.
    func open(_ table: Int64) { gates.withLock { $0[table] = nil } }

    /// Records that an operation has ended, so that the next one of its table may be tried.
    func end(_ table: Int64) {
        gates.withLock { gates in
            if case .trying = gates[table] { gates[table] = .trying(isInFlight: false) }
        }
    }

    /// The tables of which an operation is being tried.
    var tried: Set<Int64> {
        gates.withLock { gates in
            let tried = gates.filter { _, gate in
                if case .trying(isInFlight: true) = gate { true } else { false }
            }
            return Set(tried.keys)
        }
    }

    /// Begins to try the tables whose waits are over.
    /// - Returns: whether there is one.
    func retry(now: Instant) -> Bool {
        gates.withLock { gates in
            let over = gates.filter { _, gate in
                if case .closed(let until?) = gate { until <= now } else { false }
            }
            for table in over.keys { gates[table] = .trying(isInFlight: false) }
            return !over.isEmpty
        }
    }
}
