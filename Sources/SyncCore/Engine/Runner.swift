import Logging
import TablesProtocol

/// A run that is requested or in progress.
final class OpenRun {
    var run: Run
    let wish: Scheduler.Wish
    let cancel = CancelFlag()
    /// Where callers wait for its end. It is closed then, and gives none anything before.
    let end = Permits(0)
    /// Whether another caller requested the run since its last push, and may have written before.
    var isRequestedAgain = false
    /// Whether a person or a command requested it. Then operations that only wait for a time are tried at
    /// once.
    var isExplicit: Bool
    /// Whether it pushes nothing more.
    var isEnding = false
    /// Why it completed with errors, without any text of the backend.
    var loggedReason: String?
    /// Its passes, which the watchdog may cancel; nil before they begin.
    var task: Task<Void, Never>?

    init(_ run: Run, _ wish: Scheduler.Wish, isExplicit: Bool) {
        (self.run, self.wish, self.isExplicit) = (run, wish, isExplicit)
    }

    /// Whether it pulls a table because a client reads it or a stream named it, and nothing else asked for it.
    var isForRead: Bool { wish.kind == .pull && !isExplicit }
}

/// The runs of an engine. They are performed one at a time.
final class Runner: InEngine {
    private unowned let engine: SyncEngine
    private let proofs: Proofs
    let clockWatch: ClockWatch
    private(set) var current: OpenRun?
    /// The requested runs that have not begun.
    private var announced: [Scheduler.Wish: OpenRun] = [:]
    /// The number of callers that wait for another run to end before theirs begins.
    private var callersBehind = 0
    /// The number of requested runs that ended without beginning and are being saved.
    private var ending = 0
    /// What a sync has pulled that made way for another run; the next one goes on from there.
    var pulledSoFar: Set<PullRequest> = []
    /// When the last pull of each table's copy began that came to its end, in uptime.
    var pulledAt: [TableName: Duration] = [:]

    init(_ engine: SyncEngine, _ proofs: Proofs, _ clockWatch: ClockWatch) {
        (self.engine, self.proofs, self.clockWatch) = (engine, proofs, clockWatch)
    }

    var context: EngineContext { proofs.context }

    /// Whether no run is in progress or requested.
    var areOver: Bool { current == nil && announced.isEmpty && ending == 0 }

    /// The latest runs, newest first, including the one in progress.
    var all: [Run] { (current.map { [$0.run] } ?? []) + context.memory.finished.reversed() }

    private func open(_ id: String) -> OpenRun? {
        current?.run.id == id ? current : announced.values.first { $0.run.id == id }
    }

    func run(_ id: String) async -> Run? {
        if let run = open(id)?.run ?? context.memory.finished.last(where: { $0.id == id }) {
            return run
        }
        return try? await store.lists.run(id)
    }

    func result(of id: String, timeout: Duration) async -> Run? {
        guard let open = open(id) else { return await run(id) }
        let deadline = clock.uptime() + timeout
        _ = await open.end.take(timeout: { [clock] in await clock.sleep(until: deadline) })
        return open.run
    }

    // MARK: Requests

    /// Requests a run, which the loop performs. In offline mode no run begins, so it ends at once.
    /// - Returns: the run's id; that of the run in progress if it is joined.
    func start(_ wish: Scheduler.Wish) async -> String {
        if let current, joins(wish, isExplicit: true) { return current.run.id }
        if let open = announced[wish] { return open.run.id }
        let open = OpenRun(newRun(wish), wish, isExplicit: true)
        announced[wish] = open
        if isSwitchedOff {
            await end(announced: wish, .offline, SyncEngine.offlineModeIsOn)
            return open.run.id
        }
        // Stored before it can begin. Meanwhile it may have begun by another request, or ended.
        await save(open.run)
        if announced[wish] === open {
            context.scheduler.wish(wish)
            signal.send(nil)
        }
        return open.run.id
    }

    func refresh(_ table: TableName, since time: Duration) async {
        for _ in 0..<SyncLimits.pullsPerRefresh {
            if let last = pulledAt[table], last >= time { return }
            context.scheduler.pullsForRead(of: table, now: clock.uptime())
            let run = await perform(.pull(PullRequest(table: table)), pushesAgain: false)
            guard run.state == .complete || run.pull.contains(where: { $0.error == nil }) else {
                return
            }
        }
    }

    func cancel(_ id: String) async -> Bool {
        guard let open = open(id) else { return false }
        if open === current {
            open.cancel.set()
        } else {
            await end(announced: open.wish, .cancelled)
        }
        return true
    }

    /// Ends the requested runs that have not begun, because offline mode was switched on.
    func endRequested() async {
        for wish in announced.keys {
            // Offline mode may be switched off while a run is saved.
            guard isSwitchedOff else { return }
            await end(announced: wish, .offline, SyncEngine.offlineModeIsOn)
        }
    }

    /// Ends a requested run that has not begun.
    private func end(
        announced wish: Scheduler.Wish, _ state: RunState, _ reason: String? = nil
    ) async {
        guard let open = announced.removeValue(forKey: wish) else { return }
        context.scheduler.unwish(wish)
        var run = open.run
        (run.state, run.reason, run.endedAt) = (state, reason, clock.now())
        // Closed before it is saved: a caller that asks meanwhile gets the final state.
        close(open, as: run)
        ending += 1
        await save(run)
        ending -= 1
    }

    /// Whether a request joins the run in progress: it does the same, and will push once more.
    private func joins(
        _ wish: Scheduler.Wish, isExplicit: Bool, pushesAgain: Bool = true
    ) -> Bool {
        guard let current, current.wish == wish, !current.isEnding else { return false }
        if pushesAgain { current.isRequestedAgain = true }
        if isExplicit { current.isExplicit = true }
        return true
    }

    // MARK: The run in progress

    /// Performs a run, or joins the one in progress that does the same.
    ///
    /// The passes run in a task of their own, so that cancelling the caller does not interrupt a commit
    /// after a request. It asks the run to end after that commit.
    /// - Parameters:
    ///   - isExplicit: whether a person or a command requests it, rather than the schedule.
    ///   - pushesAgain: whether a run that is joined pushes once more, for what the caller wrote before.
    func perform(
        _ wish: Scheduler.Wish, isExplicit: Bool = false, pushesAgain: Bool = true
    ) async -> Run {
        while let current {
            // A cancelled caller waits too: otherwise it would ask in a loop and keep other callers from
            // the actor.
            if joins(wish, isExplicit: isExplicit, pushesAgain: pushesAgain) {
                _ = await current.end.take()
                return current.run
            }
            callersBehind += 1
            _ = await current.end.take()
            callersBehind -= 1
        }
        context.scheduler.unwish(wish)
        let open =
            announced.removeValue(forKey: wish)
            ?? OpenRun(newRun(wish), wish, isExplicit: isExplicit)
        current = open
        progressed()
        let task = await engine.begin { await $0.runner.execute() }
        open.task = task
        return await withTaskCancellationHandler {
            await task.value
            return open.run
        } onCancel: { [cancel = open.cancel] in
            cancel.set()
        }
    }

    /// Performs the passes of the run in progress, and ends it.
    private func execute() async {
        guard let open = current else { return }
        if !open.isForRead { await save(open.run) }
        let end = await passes(open)
        open.isEnding = true
        var run = open.run
        (run.state, run.reason) = end
        run.progress = nil
        if run.state == .cancelled { context.scheduler.pausePulls(now: clock.uptime()) }
        run.endedAt = clock.now()
        if run.pulledEveryTable, pulledSoFar.isEmpty { context.memory.lastSync = run.endedAt }
        // A busy client would fill the list of runs with pulls that brought nothing.
        let isRecorded = !open.isForRead || !run.broughtNothing
        if isRecorded { await save(run) }
        current = nil
        close(open, as: run, isRecorded: isRecorded)
        context.followSignal.send(nil)
        guard isRecorded else { return }
        log.log(
            level: run.logLevel, "run ended",
            metadata: run.logged(store.identity, reason: open.loggedReason))
    }

    /// Performs the passes of a run. After a 401 it starts again if the identity has another token by now.
    private func passes(_ open: OpenRun) async -> (RunState, String?) {
        while true {
            let credential = proofs.backend.access.credential()
            let end = await passes(of: open, credential).run()
            guard end.0 == .signIn, !open.cancel.isSet,
                proofs.backend.hasOtherToken(than: credential)
            else { return end }
            open.run.pull = []
        }
    }

    private func passes(of open: OpenRun, _ credential: Credential) -> RunPasses {
        RunPasses(
            context: context, engine: engine, runner: self, proofs: proofs, open: open,
            credential: credential)
    }

    /// The passes of the run in progress; nil without one.
    func passes(_ credential: Credential) -> RunPasses? {
        current.map { passes(of: $0, credential) }
    }

    /// Whether a push of the run in progress has to make way for another run. One that a person asked for does
    /// not.
    func pushMakesWay() -> Bool {
        guard let current, current.wish.kind != .pull, !current.isExplicit else { return false }
        return hasOtherWork(than: current.wish)
    }

    /// Whether another run waits.
    func hasOtherWork(than wish: Scheduler.Wish) -> Bool {
        takeCauses()
        return callersBehind > 0
            || context.scheduler.hasOtherWork(than: wish, now: clock.uptime())
    }

    /// Records how far the run in progress is.
    func note(_ progress: RunProgress, _ change: (inout Run) -> Void) {
        current?.run.progress = progress
        if let current { change(&current.run) }
        progressed()
    }

    /// What is due in the store.
    func outlook() async -> Scheduler.Outlook {
        let (period, live) = (settings.checkCopies, store.live)
        let found = try? await store.read { transaction in
            (
                try transaction.dueOperations.hasQueued(),
                try transaction.attempts.hasSending(besides: live.held),
                try transaction.dueOperations.earliestAttempt(),
                try transaction.tableWaits.nextPull(),
                try period.flatMap { try transaction.copyChecks.due(every: $0).first },
                transaction.now
            )
        }
        guard let (hasQueued, hasSending, next, pull, check, now) = found else {
            return Scheduler.Outlook()
        }
        let wait = next.map { $0.milliseconds - now.milliseconds }
        func rest(until time: Instant) -> Duration {
            .milliseconds(max(time.milliseconds - now.milliseconds, 0))
        }
        return Scheduler.Outlook(
            hasDue: hasQueued || hasSending && current == nil || wait.map { $0 <= 0 } ?? false,
            untilNext: wait.flatMap { $0 > 0 ? .milliseconds($0) : nil },
            putOffPull: pull?.table,
            untilPull: pull.map { rest(until: $0.at) }, check: check?.table,
            untilCheck: check.map { rest(until: $0.at) })
    }

    /// Keeps a finished run in memory if it is recorded, and resumes the callers that wait for it.
    private func close(_ open: OpenRun, as run: Run, isRecorded: Bool = true) {
        open.run = run
        if isRecorded { context.memory.finished.append(run) }
        if context.memory.finished.count > SyncLimits.rememberedRuns {
            context.memory.finished.removeFirst()
        }
        open.end.close()
    }

    private func save(_ run: Run) async {
        await write(or: "run not recorded") { try $0.runs.save(run) }
    }

    private func newRun(_ wish: Scheduler.Wish) -> Run {
        let text = String(random.next(below: .max), radix: 16)
        let id = String(repeating: "0", count: 16 - text.count) + text
        return Run(id: id, identity: store.identity, kind: wish.kind, startedAt: clock.now())
    }
}

extension Run {
    /// Whether it is a sync that came to its end and copied every table. Operations may still wait, or need a
    /// decision.
    fileprivate var pulledEveryTable: Bool {
        kind == .sync && (state == .complete || state == .completeWithErrors)
            && pull.allSatisfy { $0.error == nil }
    }

    /// Whether it came to its end, sent nothing and changed no row.
    fileprivate var broughtNothing: Bool {
        state == .complete && push?.sent ?? 0 == 0
            && pull.allSatisfy { $0.applied + $0.deleted + $0.skippedDirty == 0 && $0.error == nil }
    }
}

// What the log says of a run. It names no item and no row, and repeats no text of the backend.
extension Run {
    /// `notice` where a person may have to do something.
    var logLevel: Logger.Level {
        switch state {
        case .failed, .completeWithErrors, .signIn: .notice
        case .running, .complete, .offline, .cancelled:
            push.map { $0.conflicts + $0.quarantined > 0 } ?? false ? .notice : .info
        }
    }

    /// The fields of the line.
    /// - Parameter reason: why it completed with errors, without any text of the backend.
    func logged(_ identity: String, reason loggedReason: String?) -> Logger.Metadata {
        var fields: Logger.Metadata = [
            "run": "\(id)", "kind": "\(kind)", "state": "\(state)", "identity": "\(identity)",
        ]
        // A run that completed with errors has the reason of an operation, which may be the backend's text.
        let cause = state == .completeWithErrors ? loggedReason : reason
        if let cause { fields["reason"] = "\(cause)" }
        if let push {
            fields["sent"] = .stringConvertible(push.sent)
            fields["applied"] = .stringConvertible(push.applied)
            fields["conflicts"] = .stringConvertible(push.conflicts)
            fields["quarantined"] = .stringConvertible(push.quarantined)
            fields["left"] = .stringConvertible(push.left)
        }
        if kind != .push {
            fields["tables"] = .stringConvertible(pull.count)
            fields["received"] = .stringConvertible(pull.reduce(0) { $0 + $1.received })
        }
        return fields
    }
}

extension Scheduler.Wish {
    /// The kind of run that the wish makes.
    var kind: RunKind {
        switch self {
        case .push: .push
        case .sync: .sync
        case .pull: .pull
        }
    }
}
