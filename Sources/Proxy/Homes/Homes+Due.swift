import SyncCore
import Synchronization
import TablesProtocol

// What happens to stores unasked: engines go round, work of closed stores that is due is sent, and stores
// that the index does not know are looked at.
extension Homes {
    /// Runs the engines of the open stores and looks after the closed ones, until cancelled.
    func run() async {
        isRunning.store(true, ordering: .releasing)
        nobodysLoop.start(nobody.engine)
        for slot in stores.withLock({ Array($0.open.values) }) { slot.loop.start(slot.home.engine) }
        await withDiscardingTaskGroup { group in
            group.addTask { await self.examineAll() }
            group.addTask { await self.serveDue() }
        }
        isRunning.store(false, ordering: .releasing)
        for slot in stores.withLock({ Array($0.open.values) }) { await slot.loop.end() }
        await nobodysLoop.end()
    }

    /// Puts everything away after ``run()`` ended.
    func close() async {
        for slot in stores.withLock({ Array($0.open.values) }) {
            // Where the index cannot be written, the next start looks at the store.
            await lane.value { [self] in _ = putAway(slot.home.store, slot.entry) }
        }
        await lane.value { [self] in
            try? nobody.store.close()
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
            let resident = resident(identity)
            let beginning = await nobody.engine.beginning
            let entry = await lane.value { [self] () -> StoreIndex.Entry? in
                guard let home = try? maker.home(identity, resident, beginning) else { return nil }
                return putAway(home.store, nil)
            }
            stores.withLock { $0.endExamination(identity, entry) }
        }
    }

    /// Sends what is due in closed stores, as long as the backend may be asked.
    private func serveDue() async {
        while !Task.isCancelled {
            if nobody.board.mayAsk {
                await withDiscardingTaskGroup { group in
                    // A few at a time, so that users who come meanwhile find room.
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
            let resident = resident(identity)
            guard resident.signIn.credential != .missing else { return false }
            if let servedAt = resident.servedAt,
                uptime < servedAt + .seconds(Limits.dueAgainSeconds)
            {
                return false
            }
            return resident.memory.map { $0.untilPush(now: uptime) == .zero } ?? true
        }
    }

    private func serve(_ identity: String) async {
        residents.withLock { $0[identity]?.servedAt = clock.uptime() }
        guard let home = try? await open(identity, for: .due) else { return }
        guard await home.engine.settings.triggers.contains(.afterWrites) else { return }
        // Where the clock was set back, the times in the store are over first.
        await home.engine.detectClockJump()
        _ = await home.engine.push(isAsked: false)
        await home.refreshBoard()
        // The anonymous engine looks for the backend in the place of those that are closed.
        if home.board.reach == .away { nobody.engine.nudge(.unreachable) }
    }
}
