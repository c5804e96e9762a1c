import SyncCore
import Synchronization
import TablesProtocol

// What happens to stores without a request: engines run, work of closed stores that is due is sent, and
// stores that the index does not know are read.
extension TenantRegistry {
    /// Runs the engines of the open stores and looks after the closed ones, until cancelled.
    func run() async {
        isRunning.store(true, ordering: .releasing)
        anonymousLoop.start(anonymous.engine)
        for slot in stores.withLock({ Array($0.open.values) }) {
            slot.loop.start(slot.tenant.engine)
        }
        await withDiscardingTaskGroup { group in
            group.addTask { await self.examineAll() }
            group.addTask { await self.serveDue() }
        }
        isRunning.store(false, ordering: .releasing)
        for slot in stores.withLock({ Array($0.open.values) }) { await slot.loop.end() }
        await anonymousLoop.end()
    }

    /// Puts everything away after ``run()`` ended.
    func close() async {
        for slot in stores.withLock({ Array($0.open.values) }) {
            // Where the index cannot be written, the next start looks at the store.
            await executor.value { [self] in _ = indexAndClose(slot.tenant.store, slot.entry) }
        }
        await executor.value { [self] in
            try? anonymous.store.close()
            try? index.close()
        }
    }

    /// Looks, one after another, at the stores that the index does not know, or no longer. One that cannot
    /// be opened stays as it is, and its user is told when they come.
    private func examineAll() async {
        let unexamined = stores.withLock { stores in
            stores.closed.filter { if case .unexamined = $0.value { true } else { false } }.keys
                .sorted()
        }
        for identity in unexamined where !Task.isCancelled {
            guard stores.withLock({ $0.beginExamination(identity) }) else { continue }
            let tenantState = tenantState(identity)
            let beginning = await anonymous.engine.beginning
            let entry = await executor.value { [self] () -> StoreIndex.Entry? in
                guard let tenant = try? factory.tenant(identity, tenantState, beginning) else {
                    return nil
                }
                return indexAndClose(tenant.store, nil)
            }
            stores.withLock { $0.endExamination(identity, entry) }
        }
    }

    /// Sends what is due in closed stores, as long as the backend may be asked.
    private func serveDue() async {
        while !Task.isCancelled {
            if anonymous.backendStatus.mayAsk {
                await withDiscardingTaskGroup { group in
                    // A few at a time, so that there is room for users who come meanwhile.
                    for identity in due().prefix(Limits.dueStores) {
                        group.addTask { await self.serve(identity) }
                    }
                }
            }
            await clock.sleep(until: clock.uptime() + .seconds(Limits.dueLookSeconds))
        }
    }

    /// The identities with work that can be sent now, the oldest first: it is due, a token is here to
    /// send it with, and neither the operator nor the backend said to wait.
    func due() -> [String] {
        let (now, uptime) = (clock.now(), clock.uptime())
        return stores.withLock { $0 }.due(now).filter { identity in
            let tenantState = tenantState(identity)
            guard tenantState.signIn.credential != .missing else { return false }
            if let servedAt = tenantState.servedAt,
                uptime < servedAt + .seconds(Limits.dueAgainSeconds)
            {
                return false
            }
            return tenantState.memory.map { $0.untilPush(now: uptime) == .zero } ?? true
        }
    }

    private func serve(_ identity: String) async {
        tenantStates.withLock { $0[identity]?.servedAt = clock.uptime() }
        guard let tenant = try? await open(identity, for: .due) else { return }
        guard await tenant.engine.settings.triggers.contains(.afterWrites) else { return }
        // Where the clock was set back, the times in the store are over first.
        await tenant.engine.detectClockJump()
        _ = await tenant.engine.push(isAsked: false)
        await tenant.refreshBackendStatus()
        // The anonymous engine looks for the backend in the place of those that are closed.
        if tenant.backendStatus.reach == .away { anonymous.engine.nudge(.unreachable) }
    }
}
