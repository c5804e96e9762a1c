import Logging
public import TablesProtocol

struct CurrentRun: Sendable {
    var run: Run
    var wish: Scheduler.Wish
    var cancel = CancelFlag()
    /// Whether another caller requested the run since its last push, and may have written before.
    var isRequestedAgain = false
    /// Whether a person or a command requested it. Then operations that only wait for a time are tried at
    /// once.
    var isExplicit = false
    /// Whether it pushes nothing more.
    var isEnding = false
    /// Why it completed with errors, without any text of the backend.
    var loggedReason: String?

    /// Whether it pulls a table because a client reads it or a stream named it, and nothing else asked for it.
    var isForRead: Bool { wish.kind == .pull && !isExplicit }
}

extension SyncEngine {
    /// Pushes, then pulls every table.
    /// - Returns: the finished run.
    public func sync() async -> Run { await perform(.sync, isExplicit: true) }

    /// Pushes the due operations.
    /// - Parameter isExplicit: whether a person or a command requests it, rather than a client's write.
    /// - Returns: the finished run.
    public func push(isExplicit: Bool = true) async -> Run {
        await perform(.push, isExplicit: isExplicit)
    }

    /// Pushes, then pulls one table: all rows, or those that `query` selects. With a query id, a filtered
    /// pull is incremental. With `reconcile`, local items without changes that the backend no longer has,
    /// or that left the query, are removed; a filtered pull needs a query id for that.
    /// - Parameters:
    ///   - refusesOlder: whether a comparison fails, and removes nothing, where the backend is older than the
    ///     store; false if a person takes the backend's rows whatever they are. Nil leaves only rows that a push
    ///     has replaced a moment ago.
    ///   - isExplicit: whether a person or a command requests it, rather than a client's read.
    /// - Returns: the finished run.
    public func pull(
        _ table: TableName, query: PullQuery = PullQuery(), queryID: String? = nil,
        reconcile: Bool = false, refusesOlder: Bool? = nil, isExplicit: Bool = true
    ) async -> Run {
        await perform(
            .pull(
                PullRequest(
                    table: table, query: query, queryID: queryID, reconcile: reconcile,
                    older: PullRequest.OlderRows(refusesOlder))),
            isExplicit: isExplicit)
    }

    /// Pulls a table for a client's read, unless a pull of it that began at `time` or later has come to its end.
    /// Callers share a pull; one that began before `time` may miss a change, and is followed by another.
    public func refresh(_ table: TableName, since time: Duration) async {
        for _ in 0..<SyncLimits.pullsPerRefresh {
            if let last = pulledAt[table], last >= time { return }
            scheduler.pullsForRead(of: table, now: clock.uptime())
            let run = await perform(.pull(PullRequest(table: table)), pushesAgain: false)
            guard run.state == .complete || run.pull.contains(where: { $0.error == nil }) else {
                return
            }
        }
    }

    /// Requests a sync, which the loop of ``run()`` performs.
    /// - Returns: the run's id; that of the run in progress if it is joined.
    public func startSync() async -> String { await start(.sync) }

    /// Requests a push, which the loop of ``run()`` performs.
    /// - Returns: the run's id; that of the run in progress if it is joined.
    public func startPush() async -> String { await start(.push) }

    /// Requests a pull, which the loop of ``run()`` performs.
    /// - Returns: the run's id; that of the run in progress if it is joined.
    public func startPull(
        _ table: TableName, query: PullQuery = PullQuery(), queryID: String? = nil,
        reconcile: Bool = false, refusesOlder: Bool? = nil
    ) async -> String {
        await start(
            .pull(
                PullRequest(
                    table: table, query: query, queryID: queryID, reconcile: reconcile,
                    older: PullRequest.OlderRows(refusesOlder))))
    }

    /// The run with this id, when it has finished or `timeout` has passed; nil if there is none.
    public func result(of id: String, timeout: Duration) async -> Run? {
        guard isOpen(id) else { return await run(id) }
        let deadline = clock.uptime() + timeout
        return await withTaskGroup(of: Run?.self) { group in
            group.addTask {
                // The timeout of another caller resumes this one too, while the run is in progress.
                while let run = await self.end(of: id) {
                    if run.state != .running { return run }
                }
                return nil
            }
            group.addTask { [clock] in
                await clock.sleep(until: deadline)
                return nil
            }
            let first = await group.next() ?? nil
            // The task group ends only with all its tasks, so the waiting one is resumed.
            if first == nil { release(id) }
            group.cancelAll()
            if let first { return first }
            return await run(id)
        }
    }

    /// A run, in progress or finished; nil if there is none.
    public func run(_ id: String) async -> Run? {
        if let current, current.run.id == id { return current.run }
        if let run = finished.last(where: { $0.id == id }) { return run }
        if let run = announced(id) { return run }
        return try? await store.run(id)
    }

    /// The latest runs, newest first, including the one in progress.
    public func runs() -> [Run] {
        (current.map { [$0.run] } ?? []) + finished.reversed()
    }

    /// Cancels a run: after its request in flight, or before it begins.
    /// - Returns: false if it is neither in progress nor requested.
    public func cancel(run id: String) async -> Bool {
        if let current, current.run.id == id {
            current.cancel.set()
            return true
        }
        // The run is requested and has not begun.
        guard let wish = announcedRuns.first(where: { $0.value.id == id })?.key else {
            return false
        }
        await endAnnounced(wish, .cancelled)
        return true
    }

    /// Ends the requested runs that have not begun, because offline mode was switched on.
    func endRequestedRuns() async {
        for wish in announcedRuns.keys {
            // Offline mode may be switched off while a run is saved.
            guard case .offline = scheduler.mode else { return }
            await endAnnounced(wish, .offline, Self.offlineModeIsOn)
        }
    }

    /// Ends a requested run that has not begun.
    private func endAnnounced(
        _ wish: Scheduler.Wish, _ state: RunState, _ reason: String? = nil
    ) async {
        guard var run = announcedRuns.removeValue(forKey: wish) else { return }
        scheduler.unwish(wish)
        (run.state, run.reason, run.endedAt) = (state, reason, clock.now())
        // Closed before it is saved: a caller that asks meanwhile gets the final state.
        close(run)
        endingRuns += 1
        await save(run)
        endingRuns -= 1
    }

    private func announced(_ id: String) -> Run? {
        announcedRuns.values.first { $0.id == id }
    }

    /// Requests a run. In offline mode no run begins, so it ends at once.
    private func start(_ wish: Scheduler.Wish) async -> String {
        if let id = join(wish, isExplicit: true) { return id }
        if let run = announcedRuns[wish] { return run.id }
        let run = Run(
            id: newRunID(), identity: store.identity, kind: wish.kind, startedAt: clock.now())
        announcedRuns[wish] = run
        if case .offline = scheduler.mode {
            await endAnnounced(wish, .offline, Self.offlineModeIsOn)
            return run.id
        }
        // Stored before it can begin. Meanwhile it may have begun by another request, or ended.
        await save(run)
        if announcedRuns[wish]?.id == run.id {
            scheduler.wish(wish)
            signal.send(nil)
        }
        return run.id
    }

    /// Joins the run in progress, if it does the same and will push once more.
    /// - Returns: the run's id; nil if it was not joined.
    private func join(
        _ wish: Scheduler.Wish, isExplicit: Bool, pushesAgain: Bool = true
    ) -> String? {
        guard let running = current, running.wish == wish, !running.isEnding else { return nil }
        if pushesAgain { current?.isRequestedAgain = true }
        if isExplicit { current?.isExplicit = true }
        return running.run.id
    }

    private func isOpen(_ id: String) -> Bool {
        current?.run.id == id || announced(id) != nil
    }

    private func end(of id: String) async -> Run? {
        // A caller whose own timeout has passed would wait for the whole run, because it is resumed only
        // once.
        guard isOpen(id), !Task.isCancelled else { return nil }
        return await withCheckedContinuation { waiters[id, default: []].append($0) }
    }

    /// Resumes the callers that wait for a run, with its present state.
    private func release(_ id: String) {
        guard let waiting = waiters.removeValue(forKey: id) else { return }
        let run =
            (current?.run.id == id ? current?.run : announced(id))
            ?? Run(id: id, identity: store.identity, kind: .sync, startedAt: clock.now())
        for waiter in waiting { waiter.resume(returning: run) }
    }

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
            let isJoined = join(wish, isExplicit: isExplicit, pushesAgain: pushesAgain) != nil
            // A cancelled caller waits too: otherwise it would ask in a loop and keep other callers from
            // the actor.
            if !isJoined { callersBehind += 1 }
            let run = await withCheckedContinuation {
                waiters[current.run.id, default: []].append($0)
            }
            if !isJoined { callersBehind -= 1 }
            // A caller that was resumed with those whose timeout has passed waits on.
            if isJoined, run.state != .running { return run }
        }
        scheduler.unwish(wish)
        let announced = announcedRuns.removeValue(forKey: wish)
        let run =
            announced
            ?? Run(
                id: newRunID(), identity: store.identity, kind: wish.kind, startedAt: clock.now())
        let running = CurrentRun(run: run, wish: wish, isExplicit: isExplicit || announced != nil)
        current = running
        scheduler.progressed(now: clock.uptime())
        let task = Task(executorPreference: executor) { await self.execute(running) }
        runTask = task
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            running.cancel.set()
        }
    }

    private func execute(_ running: CurrentRun) async -> Run {
        if !running.isForRead { await save(running.run) }
        let end = await passes(running)
        let loggedReason = current?.loggedReason
        current?.isEnding = true
        var run = current?.run ?? running.run
        (run.state, run.reason) = end
        run.progress = nil
        if run.state == .cancelled { scheduler.pausePulls(now: clock.uptime()) }
        run.endedAt = clock.now()
        if run.pulledEveryTable, pulledSoFar.isEmpty { lastSync = run.endedAt }
        // A busy client would fill the list of runs with pulls that brought nothing.
        let isRecorded = current?.isForRead != true || !run.broughtNothing
        if isRecorded { await save(run) }
        current = nil
        close(run, isRecorded: isRecorded)
        followSignal.send(nil)
        if isRecorded {
            log.log(
                level: run.logLevel, "run ended",
                metadata: run.logged(store.identity, reason: loggedReason))
        }
        return run
    }

    /// Keeps a finished run in memory if it is recorded, and resumes the callers that wait for it.
    private func close(_ run: Run, isRecorded: Bool = true) {
        if isRecorded { finished.append(run) }
        if finished.count > SyncLimits.rememberedRuns { finished.removeFirst() }
        for waiter in waiters.removeValue(forKey: run.id) ?? [] { waiter.resume(returning: run) }
    }

    private func save(_ run: Run) async {
        do {
            try await store.write { try $0.runs.save(run) }
        } catch {
            log.warning("run not recorded", metadata: ["error": "\(error)"])
        }
    }

    private func newRunID() -> String {
        let text = String(random.next(below: .max), radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
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
