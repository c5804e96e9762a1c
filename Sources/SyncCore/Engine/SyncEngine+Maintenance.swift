import Logging
import Storage
import TablesProtocol

extension SyncEngine {
    /// Once a minute: stores a sample of the queue, removes expired rows, and stores what costly lists were
    /// seen.
    func runMaintenance() async {
        let now = clock.now()
        guard let begin = minuteBegin else {
            minuteBegin = now
            return
        }
        guard now.milliseconds - begin.milliseconds >= SyncLimits.maintenanceSeconds * 1000 else {
            return
        }
        let count = meter.take()
        let retention = settings.retention
        minuteBegin = now
        do {
            try await store.write { transaction in
                let sample = Sample(
                    at: begin, depth: try transaction.ledger.queueCounts().open,
                    succeeded: count.succeeded,
                    failed: count.failed, latencyMilliseconds: count.latencyMilliseconds)
                try transaction.samples.save(sample)
                _ = try Sweep(transaction: transaction, retention: retention).run()
            }
            try await store.noteCostlyLists()
            try await holdBytes(retention, now)
            await store.shrinkLog()
        } catch {
            log.warning("maintenance failed", metadata: ["error": "\(error)"])
        }
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
