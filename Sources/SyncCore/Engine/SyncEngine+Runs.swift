import Logging
public import TablesProtocol

/// A run under way.
struct CurrentRun: Sendable {
    var run: Run
    var wish: Scheduler.Wish
    var cancel = CancelFlag()
    /// A caller asked for it since its last look for changes, and may have written before.
    var isAskedAgain = false
    /// A person or a command asked for it: what waits for time alone is tried at once.
    var isAsked = false
    /// It looks for nothing more.
    var isEnding = false
}

extension SyncEngine {
    /// Pushes, then pulls every table. Returns when that is over.
    public func sync() async -> Run { await perform(.sync, isAsked: true) }

    /// Pushes what is due. Returns when that is over.
    /// - Parameter isAsked: by a person or a command, and not because a client writes.
    public func push(isAsked: Bool = true) async -> Run { await perform(.push, isAsked: isAsked) }

    /// Pushes, then pulls one table: whole, or what `query` selects. With a query id a filtered pull
    /// is incremental. With `reconcile` clean items that the backend no longer has, or that left the
    /// query, are removed; for a filtered pull that takes a query id.
    /// - Parameter isAsked: by a person or a command, and not because a client reads.
    public func pull(
        _ table: TableName, query: PullQuery = PullQuery(), queryID: String? = nil,
        reconcile: Bool = false, isAsked: Bool = true
    ) async -> Run {
        await perform(
            .pull(PullRequest(table: table, query: query, queryID: queryID, reconcile: reconcile)),
            isAsked: isAsked)
    }

    /// Starts a sync that the loop of ``run()`` carries out, or names the one under way.
    public func startSync() async -> String { await start(.sync) }

    /// Starts a push that the loop of ``run()`` carries out, or names the one under way.
    public func startPush() async -> String { await start(.push) }

    /// Starts a pull that the loop of ``run()`` carries out, or names the one under way.
    public func startPull(
        _ table: TableName, query: PullQuery = PullQuery(), queryID: String? = nil,
        reconcile: Bool = false
    ) async -> String {
        await start(
            .pull(PullRequest(table: table, query: query, queryID: queryID, reconcile: reconcile)))
    }

    /// The run with this id once it is over, or as it stands when `timeout` has passed; nil when
    /// there is none.
    public func result(of id: String, timeout: Duration) async -> Run? {
        guard isOpen(id) else { return await run(id) }
        let deadline = clock.uptime() + timeout
        return await withTaskGroup(of: Run?.self) { group in
            group.addTask { await self.end(of: id) }
            group.addTask { [clock] in
                await clock.sleep(until: deadline)
                return nil
            }
            let first = await group.next() ?? nil
            // A caller that still waits is let go, since the group ends with its tasks.
            if first == nil { release(id) }
            group.cancelAll()
            if let first { return first }
            return await run(id)
        }
    }

    /// A run, under way or over.
    public func run(_ id: String) async -> Run? {
        if let current, current.run.id == id { return current.run }
        if let run = finished.last(where: { $0.id == id }) { return run }
        if let run = announced(id) { return run }
        return try? await store.run(id)
    }

    /// The latest runs, newest first, the one under way among them.
    public func runs() -> [Run] {
        (current.map { [$0.run] } ?? []) + finished.reversed()
    }

    /// Ends a run after the request in flight, or before it begins. False when it is not under way.
    public func cancel(run id: String) async -> Bool {
        if let current, current.run.id == id {
            current.cancel.set()
            return true
        }
        // It has an id and has not begun.
        guard let wish = announcedRuns.first(where: { $0.value.id == id })?.key else {
            return false
        }
        await endAnnounced(wish, .cancelled)
        return true
    }

    /// Ends a run that was asked for and has not begun.
    func endAnnounced(
        _ wish: Scheduler.Wish, _ state: Run.State, _ reason: String? = nil
    ) async {
        guard var run = announcedRuns.removeValue(forKey: wish) else { return }
        scheduler.unwish(wish)
        (run.state, run.reason, run.endedAt) = (state, reason, clock.now())
        await save(run)
        close(run)
    }

    private func announced(_ id: String) -> Run? {
        announcedRuns.values.first { $0.id == id }
    }

    /// In offline mode no run begins, so it ends at once.
    private func start(_ wish: Scheduler.Wish) async -> String {
        if let id = join(wish, isAsked: true) { return id }
        if let run = announcedRuns[wish] { return run.id }
        let run = Run(id: newRunID(), kind: wish.kind, startedAt: clock.now())
        announcedRuns[wish] = run
        if case .offline = scheduler.mode {
            await endAnnounced(wish, .offline, Self.offlineModeIsOn)
            return run.id
        }
        scheduler.wish(wish)
        signal.send(nil)
        await save(run)
        return run.id
    }

    /// Joins the run under way where it does the same and will look for changes once more; nil where
    /// it does not.
    private func join(_ wish: Scheduler.Wish, isAsked: Bool) -> String? {
        guard let running = current, running.wish == wish, !running.isEnding else { return nil }
        current?.isAskedAgain = true
        if isAsked { current?.isAsked = true }
        return running.run.id
    }

    private func isOpen(_ id: String) -> Bool {
        current?.run.id == id || announced(id) != nil
    }

    private func end(of id: String) async -> Run? {
        // A caller whose own time is over would wait for the whole run: nothing releases it again.
        guard isOpen(id), !Task.isCancelled else { return nil }
        return await withCheckedContinuation { waiters[id, default: []].append($0) }
    }

    /// Lets those who wait for a run go on with the run as it stands.
    private func release(_ id: String) {
        guard let waiting = waiters.removeValue(forKey: id) else { return }
        let run =
            (current?.run.id == id ? current?.run : announced(id))
            ?? Run(id: id, kind: .sync, startedAt: clock.now())
        for waiter in waiting { waiter.resume(returning: run) }
    }

    /// Carries a run out, or joins the one under way that does the same.
    ///
    /// The passes run in a task of their own, so that a caller who goes away cannot cut a
    /// request's bookkeeping off; cancelling the caller asks the run to end after it.
    /// - Parameter isAsked: by a person or a command, and not by the schedule.
    func perform(_ wish: Scheduler.Wish, isAsked: Bool = false) async -> Run {
        while let current {
            let isJoined = join(wish, isAsked: isAsked) != nil
            // Also for a caller who was cancelled: it would ask again and again and let no other caller in.
            let run = await withCheckedContinuation {
                waiters[current.run.id, default: []].append($0)
            }
            // A caller that is let go with those whose time is over waits on.
            if isJoined, run.state != .running { return run }
        }
        scheduler.unwish(wish)
        let announced = announcedRuns.removeValue(forKey: wish)
        let run =
            announced ?? Run(id: newRunID(), kind: wish.kind, startedAt: clock.now())
        let running = CurrentRun(run: run, wish: wish, isAsked: isAsked || announced != nil)
        current = running
        scheduler.progressed(now: clock.uptime())
        let task = Task(executorPreference: executor) { await self.carryOut(running) }
        carrying = task
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            running.cancel.set()
        }
    }

    private func carryOut(_ running: CurrentRun) async -> Run {
        await save(running.run)
        let end = await passes(running)
        current?.isEnding = true
        var run = current?.run ?? running.run
        (run.state, run.reason) = end
        run.progress = nil
        run.endedAt = clock.now()
        if run.kind == .sync, run.state == .complete || run.state == .completeWithErrors {
            lastSync = run.endedAt
        }
        await save(run)
        current = nil
        close(run)
        log.log(level: run.logLevel, "run ended", metadata: run.logged(store.identity))
        return run
    }

    /// Remembers a run that is over, and tells the callers that wait for it.
    private func close(_ run: Run) {
        finished.append(run)
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

// What the log says of a run. It names no item and no row.
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
    func logged(_ identity: String) -> Logger.Metadata {
        var fields: Logger.Metadata = [
            "run": "\(id)", "kind": "\(kind)", "state": "\(state)", "identity": "\(identity)",
        ]
        if let reason { fields["reason"] = "\(reason)" }
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
    var kind: Run.Kind {
        switch self {
        case .push: .push
        case .sync: .sync
        case .pull: .pull
        }
    }
}
