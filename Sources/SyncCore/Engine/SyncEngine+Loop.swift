import Logging
import TablesProtocol

extension SyncEngine {
    /// Runs the schedule until the task is cancelled; the bookkeeping of a request in flight is
    /// finished first. A watchdog starts the loop anew, and says so, when due work is not touched.
    public func run() async {
        while !Task.isCancelled, !isRetired {
            let isStalled = await withTaskGroup(of: Bool.self) { group in
                group.addTask {
                    await self.loop()
                    return false
                }
                group.addTask { await self.watch() }
                let first = await group.next() ?? false
                group.cancelAll()
                // A request that never ends is called off; its operation is read back later.
                if first { carrying?.cancel() }
                return first
            }
            if isStalled { await tellStall() }
        }
    }

    /// Says that the loop stood still, everywhere where a person may look.
    private func tellStall() async {
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

    /// Whether the loop takes its turns: a pass is under way, which its own watchdog minds, or the
    /// last turn is not longer ago than the loop ever waits.
    public var isGoingRound: Bool {
        guard current == nil, let lastTurn else { return true }
        return clock.uptime() - lastTurn < .seconds(2 * SyncLimits.maintenanceSeconds)
    }

    private func loop() async {
        while !Task.isCancelled {
            lastTurn = clock.uptime()
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

    /// Takes in what woke the loop.
    func takeCauses() {
        for cause in signal.take() { scheduler.wake(cause, now: clock.uptime()) }
    }

    private func probe() async {
        let before = scheduler.backend.state
        let credential = credential()
        guard credential != .missing else {
            fail(Prover.Failure(state: .signedOut, reason: scheduler.backend.reason))
            return
        }
        switch await prove(credential) {
        case nil, .cancelled, .store: return
        case .signIn:
            refused(credential)
            if hasOther(than: credential) { signal.send(.signedIn) }
        case .backend(let failure) where failure.isAboutTable:
            await answered("The backend answers. \(failure.reason)")
        case .backend(let failure): fail(failure)
        }
        // No run ends here that would tell it.
        if scheduler.backend.state != before { await announceStatus() }
    }

    /// Waits for a wake-up or a time, but looks up each minute for maintenance.
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
        let found = try? await store.read { transaction in
            (
                try transaction.dueOperations.hasQueued(), try transaction.attempts.hasSending(),
                try transaction.dueOperations.earliestAttempt(), transaction.now
            )
        }
        guard let (hasQueued, hasSending, next, now) = found else { return Scheduler.Outlook() }
        let wait = next.map { $0.milliseconds - now.milliseconds }
        return Scheduler.Outlook(
            hasDue: hasQueued || hasSending && current == nil || wait.map { $0 <= 0 } ?? false,
            untilNext: wait.flatMap { $0 > 0 ? .milliseconds($0) : nil })
    }

    /// Times of next attempts are wall times: when the clock was set back, while the engine ran or
    /// while it did not, they would be far away. When it went ahead, the machine may have slept, and
    /// the network is another one: what waits in uptime is looked at now.
    public func detectClockJump() async {
        let (wall, uptime) = (clock.now(), clock.uptime())
        let last = lastLook
        lastLook = (wall, uptime)
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
            try await store.write { try $0.dueOperations.forgetTimes() }
        } catch {
            log.warning("waiting operations not woken", metadata: ["error": "\(error)"])
        }
    }

    /// True when due work was not touched for too long; false when cancelled.
    private func watch() async -> Bool {
        while !Task.isCancelled {
            await clock.sleep(until: clock.uptime() + .seconds(SyncLimits.watchSeconds))
            await detectClockJump()
            let outlook = await outlook()
            let isRunning = current != nil
            if scheduler.isStalled(now: clock.uptime(), outlook: outlook, isRunning: isRunning) {
                return !Task.isCancelled
            }
        }
        return false
    }
}
