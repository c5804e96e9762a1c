import Logging
import TablesProtocol

extension SyncEngine {
    /// Once a minute: keeps a sample of the queue, removes what is kept no longer, and notes which
    /// indexes lists ask for.
    func keepHouse() async {
        let now = clock.now()
        guard let begin = minuteBegin else {
            minuteBegin = now
            return
        }
        guard now.milliseconds - begin.milliseconds >= SyncLimits.houseSeconds * 1000 else {
            return
        }
        let count = meter.take()
        minuteBegin = now
        do {
            try await store.write { transaction in
                let sample = Sample(
                    at: begin, depth: try transaction.ledger.queueCounts().open,
                    succeeded: count.succeeded,
                    failed: count.failed, latencyMilliseconds: count.latencyMilliseconds)
                try transaction.samples.save(sample)
                _ = try Sweep(transaction: transaction).run()
            }
            try await store.noteCostlyLists()
        } catch {
            log.warning("house not kept", metadata: ["error": "\(error)"])
        }
    }
}
