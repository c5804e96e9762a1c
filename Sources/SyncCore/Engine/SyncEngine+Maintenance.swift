import Logging
import Storage
import TablesProtocol

extension SyncEngine {
    /// Once a minute: stores a sample, removes expired rows, and stores what costly lists were seen.
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
            try await store.noteCostlyLists()
            try await holdBytes(retention, now)
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
