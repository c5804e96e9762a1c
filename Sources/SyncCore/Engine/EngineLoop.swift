import Logging
import Storage
public import TablesProtocol

extension SyncEngine {
    /// Runs the schedule until the task is cancelled or the engine is retired. A request in flight is
    /// finished and its outcome committed first. If due work is not touched, a watchdog restarts the loop
    /// and reports it.
    public func run() async {
        if meter.server == nil {
            meter.server = try? await store.read { try $0.binding.server() }
        }
        while !Task.isCancelled, !isRetired {
            let isStalled = await withTaskGroup(of: Bool.self) { group in
                group.addTask {
                    await self.loop()
                    return false
                }
                group.addTask { await self.waitForStall() }
                let first = await group.next() ?? false
                group.cancelAll()
                // Cancels a request that never ends. Its operation is read back later.
                if first { runTask?.cancel() }
                return first
            }
            if isStalled { await reportStall() }
        }
        liveCancel.set()
        await awaitLiveWrites()
    }

    /// Reports a stall in the log, the warnings, the history and the events.
    private func reportStall() async {
        stalls += 1
        let sentence = "Syncing stood still and was started again at \(clock.now().text)."
        log.error("sync stalled and was started again", metadata: ["stalls": "\(stalls)"])
        warnings = [sentence]
        scheduler.progressed(now: clock.uptime())
        do {
            try await store.write { transaction in
                try transaction.history.record(.failed, actor: .engine, summary: sentence)
                transaction.events.emit(.status)
            }
        } catch {
            log.warning("stall not recorded", metadata: ["error": "\(error)"])
        }
    }

    /// Whether the loop is alive: a run is in progress, which the watchdog observes, or the last iteration
    /// is recent.
    public var isLoopAlive: Bool {
        guard current == nil, let lastIteration else { return true }
        return clock.uptime() - lastIteration < .seconds(2 * SyncLimits.maintenanceSeconds)
    }

    private func loop() async {
        while !Task.isCancelled {
            lastIteration = clock.uptime()
            takeCauses()
            await detectClockJump()
            let outlook = await outlook()
            guard !isRetired else { return }
            switch scheduler.next(now: clock.uptime(), outlook: outlook) {
            case .run(let wish): _ = await perform(wish)
            case .probe: await probe()
            case .wait(let until): await idle(until: until)
            }
            guard !isRetired else { return }
            await runMaintenance()
        }
    }

    /// Passes the pending wake causes to the schedule.
    func takeCauses() {
        for cause in signal.take() { scheduler.wake(cause, now: clock.uptime()) }
    }

    /// Looks for the backend.
    /// - Returns: why it cannot be used; nil if it answers.
    @discardableResult
    func probe() async -> PushStop? {
        let before = scheduler.backend.state
        let credential = credential()
        guard credential != .missing else {
            fail(Prover.Failure(state: .signedOut, reason: scheduler.backend.reason))
            return .signIn
        }
        if let failure = await namedWait() {
            fail(failure)
            return .backend(failure)
        }
        let stop = await prove(credential)
        await note(stop, credential)
        // No run ends here, so the change is announced now.
        if scheduler.backend.state != before { await announceStatus() }
        return stop
    }

    /// Passes what a proof or a request outside a run found to the schedule.
    func note(_ stop: PushStop?, _ credential: Credential) async {
        switch stop {
        case nil, .cancelled, .yielded, .store: return
        case .signIn:
            refused(credential)
            if hasOtherToken(than: credential) { signal.send(.signedIn) }
        case .backend(let failure) where failure.isAboutTable:
            await noteReachable(about: failure)
        case .backend(let failure):
            fail(failure)
            await keepNamedWait(failure)
        }
    }

    /// Waits for a wake-up or a time, at most one maintenance interval.
    private func idle(until: Duration?) async {
        let minute = clock.uptime() + .seconds(SyncLimits.maintenanceSeconds)
        let deadline = min(until ?? minute, minute)
        await withTaskGroup(of: Void.self) { [signal, clock] group in
            group.addTask { await signal.wait() }
            group.addTask { await clock.sleep(until: deadline) }
            await group.next()
            group.cancelAll()
        }
    }

    func outlook() async -> Scheduler.Outlook {
        let (period, live) = (settings.checkCopies, live)
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

    /// Detects that the wall clock was set. Times of next attempts are wall times: if the clock was set
    /// back, also while no engine ran, they would be too far away, so every waiting operation is due now. If
    /// it went ahead, the machine may have slept and changed its network, so a backend that was out of reach
    /// is tried now.
    public func detectClockJump() async {
        let (wall, uptime) = (clock.now(), clock.uptime())
        let last = lastClockReading
        lastClockReading = (wall, uptime)
        if let last {
            let expected = last.wall.advanced(by: uptime - last.uptime)
            if wall > expected.advanced(by: .seconds(SyncLimits.clockSlackSeconds)) {
                log.notice("the clock went ahead; the backend is looked for")
                signal.send(.reachable)
                return
            }
        }
        let behind = wall.advanced(by: .seconds(SyncLimits.clockSlackSeconds))
        if let last, behind >= last.wall.advanced(by: uptime - last.uptime) { return }
        do {
            if last == nil,
                try await !store.read({ try $0.dueOperations.hasAttempts(after: behind) })
            {
                return
            }
            log.notice("the clock was set back; all that waits is due")
            backendNotBefore = nil
            try await store.write { transaction in
                try transaction.dueOperations.forgetTimes()
                try transaction.binding.setNotBefore(nil)
            }
        } catch {
            log.warning("waiting operations not woken", metadata: ["error": "\(error)"])
        }
    }

    /// Waits until two looks in a row find the loop stalled.
    /// - Returns: true if due work was not touched for too long; false if cancelled.
    private func waitForStall() async -> Bool {
        // One look may come just before the loop takes up what has become due at that moment.
        var isSuspected = false
        while !Task.isCancelled {
            await clock.sleep(until: clock.uptime() + .seconds(SyncLimits.watchSeconds))
            await detectClockJump()
            if !Task.isCancelled { await sampleMinute() }
            let outlook = await outlook()
            let isRunning = current != nil
            let isStalled = scheduler.isStalled(
                now: clock.uptime(), outlook: outlook, isRunning: isRunning)
            if isStalled, isSuspected { return !Task.isCancelled }
            isSuspected = isStalled
        }
        return false
    }
}

extension SyncEngine {
    /// Once a minute: stores a sample, and removes expired rows, and builds indexes that are missing.
    func runMaintenance() async {
        await sampleMinute()
        let now = clock.now()
        // A negative time: the clock was set back.
        let passed = now.milliseconds - maintainedAt.milliseconds
        guard !(0..<SyncLimits.maintenanceSeconds * 1000).contains(passed) else { return }
        maintainedAt = now
        let retention = settings.retention
        do {
            var hasMore = true
            var sweeps = 0
            while hasMore, sweeps < StoreLimits.sweeps {
                hasMore = try await store.write {
                    try Sweep(transaction: $0, retention: retention).run()
                }
                sweeps += 1
            }
            try await holdBytes(retention, now)
            try await store.buildIndexes()
        } catch {
            log.warning("maintenance failed", metadata: ["error": "\(error)"])
        }
        // Also after a failure: on a full disk an emptied log gives space back.
        await store.shrinkLog()
    }

    /// Once an hour: removes the oldest history and attempts that are beyond their bytes.
    private func holdBytes(_ retention: Retention, _ now: Instant) async throws(StoreError) {
        guard retention.historyBytes != nil || retention.attemptBytes != nil else { return }
        if let last = bytesHeldAt,
            (0..<SyncLimits.byteBudgetSeconds * 1000)
                .contains(now.milliseconds - last.milliseconds)
        {
            return
        }
        bytesHeldAt = now
        let cut = try await store.search { try ByteBudget(transaction: $0).cut(retention) }
        while try await store.write({ try ByteBudget(transaction: $0).remove(upTo: cut) }) {}
    }
}

extension SyncEngine {
    /// Stores a sample when a minute of the wall clock is over. A long run does not delay it: the
    /// watchdog's task calls this too.
    func sampleMinute() async {
        let (now, uptime) = (clock.now(), clock.uptime())
        guard now.minute != minuteBegin.minute else { return }
        let (begin, count) = (minuteBegin, meter.take())
        let reach = scheduler.reachability.milliseconds(now: uptime)
        minuteBegin = now
        scheduler.reachability.restart(now: uptime)
        do {
            try await store.write { transaction in
                try transaction.samples.save(
                    Self.sample(
                        begin.minute, count, reach, depth: transaction.ledger.queueCounts().open))
            }
        } catch {
            // The counts of requests are not kept then. Those of operations go into the next sample.
            log.warning("sample not stored", metadata: ["error": "\(error)"])
        }
    }

    /// The samples since a time, oldest first, added up to steps of time. The last one has the minute
    /// that is not over yet, so that their sums are what the ledger grew by in that time. Where the clock
    /// was set back, minutes that lie in the future are left out until their time comes.
    /// - Parameters:
    ///   - since: rounded down to the beginning of a step.
    ///   - stepSeconds: the length of a step.
    /// - Throws: ``StoreError`` when the store cannot be read.
    public func samples(since: Instant, stepSeconds: Int) async throws(StoreError) -> [Sample] {
        let (begin, count) = (minuteBegin, meter.present)
        let reach = scheduler.reachability.milliseconds(now: clock.uptime())
        let steps: [Sample] = try await store.search { transaction in
            var present = Self.sample(
                begin.minute, count, reach, depth: try transaction.ledger.queueCounts().open)
            present.growth = try transaction.samples.growth()
            let stored = try transaction.samples.since(since.roundedDown(toSeconds: stepSeconds))
            return (stored.filter { $0.at <= present.at } + [present]).steps(of: stepSeconds)
        }
        // A minute that ended meanwhile may be both among the stored ones and in the present one.
        guard begin == minuteBegin else {
            return try await samples(since: since, stepSeconds: stepSeconds)
        }
        return steps
    }

    private static func sample(
        _ at: Instant, _ count: Meter.Count, _ reach: [Sample.Reach: Int64], depth: Int
    ) -> Sample {
        var sample = Sample(
            at: at, depth: depth, succeeded: count.succeeded, failed: count.failed,
            latencyMilliseconds: count.latencyMilliseconds)
        sample.answers = count.answers
        sample.reach = reach
        return sample
    }
}

extension Instant {
    fileprivate var minute: Instant { roundedDown(toSeconds: 60) }
}
