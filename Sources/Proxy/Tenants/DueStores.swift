import SyncCore
import Synchronization
import TablesProtocol

// Work without a request: engines run, due work of closed stores is sent, and stores without an index entry
// are read.
extension TenantRegistry {
    /// Runs the engines of the open stores and sends the due work of the closed ones, until cancelled.
    func run() async {
        isRunning.store(true, ordering: .releasing)
        anonymousLoop.start(anonymous.engine)
        for slot in stores.withLock({ Array($0.open.values) }) {
            slot.loop.start(slot.tenant.engine)
        }
        await withDiscardingTaskGroup { group in
            group.addTask { await self.examineAll() }
            group.addTask { await self.pushDueStores() }
        }
        isRunning.store(false, ordering: .releasing)
        for slot in stores.withLock({ Array($0.open.values) }) { await slot.loop.end() }
        await anonymousLoop.end()
    }

    /// Closes all stores and the index, after ``run()`` has ended.
    func close() async {
        for slot in stores.withLock({ Array($0.open.values) }) {
            // If the index cannot be written, the next start reads the store.
            await executor.value { [self] in _ = indexAndClose(slot.tenant.store, slot.entry) }
        }
        await executor.value { [self] in
            try? anonymous.store.close()
            try? index.close()
        }
    }

    /// Reads the stores without a valid index entry, one after another. A store that cannot be opened stays
    /// unexamined, and the next request of its user is answered with the reason.
    private func examineAll() async {
        let unexamined = stores.withLock { stores in
            stores.closed.filter { if case .unexamined = $0.value { true } else { false } }.keys
                .sorted()
        }
        for identity in unexamined where !Task.isCancelled {
            guard stores.withLock({ $0.beginExamination(identity) }) else { continue }
            let tenantState = tenantState(identity)
            let beginning = await anonymous.engine.initialMemory
            let entry = await executor.value { [self] () -> StoreIndex.Entry? in
                guard let tenant = try? factory.tenant(identity, tenantState, beginning) else {
                    return nil
                }
                return indexAndClose(tenant.store, nil)
            }
            stores.withLock { $0.endExamination(identity, entry) }
        }
    }

    /// Sends the due work of closed stores, while the backend can be asked.
    private func pushDueStores() async {
        while !Task.isCancelled {
            await handOver()
            if anonymous.backendStatus.mayAsk {
                await withDiscardingTaskGroup { group in
                    // Only a few at a time, so that stores can be opened for requests meanwhile.
                    for identity in due().prefix(Limits.concurrentDueStores) {
                        group.addTask { await self.pushDue(identity) }
                    }
                }
            }
            await clock.sleep(until: clock.uptime() + .seconds(Limits.duePollSeconds))
        }
    }

    /// The identities with work that can be sent now, the oldest operation first: it is due, there is a
    /// token, and neither offline mode nor the backend's `Retry-After` forbids it.
    func due() -> [String] {
        let (now, uptime) = (clock.now(), clock.uptime())
        return stores.withLock { $0 }.due(now).filter { identity in
            let tenantState = tenantState(identity)
            guard tenantState.signIn.credential != .missing else { return false }
            if let servedAt = tenantState.servedAt,
                uptime < servedAt + .seconds(Limits.dueRetrySeconds)
            {
                return false
            }
            return tenantState.memory.map { $0.untilPush(now: uptime) == .zero } ?? true
        }
    }

    private func pushDue(_ identity: String) async {
        tenantStates.withLock { $0[identity]?.servedAt = clock.uptime() }
        guard let tenant = try? await open(identity, for: .due) else { return }
        guard await tenant.engine.settings.triggers.contains(.afterWrites) else { return }
        // After the clock was set back, the times in the store are forgotten first: all that waits is due.
        await tenant.engine.detectClockJump()
        _ = await tenant.engine.push(isExplicit: false)
        await tenant.refreshBackendStatus()
        // The anonymous engine probes the backend for the closed stores.
        if tenant.backendStatus.reach == .away { anonymous.engine.nudge(.unreachable) }
    }
}
