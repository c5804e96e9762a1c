import Logging
import TablesProtocol

/// What the engine counts until the minute's sample is kept.
struct Minute: Sendable {
    var begin: Instant?
    var succeeded = 0
    var failed = 0
    private var last = PushReport()

    init() {}

    /// Counts what a push did since it was last asked.
    mutating func count(_ report: PushReport) {
        if report.sent < last.sent { last = PushReport() }
        succeeded += report.applied - last.applied
        failed += (report.sent - last.sent) - (report.applied - last.applied)
        last = report
    }
}

extension SyncEngine {
    /// Once a minute: keeps a sample of the queue and removes what is kept no longer.
    func keepHouse() async {
        let now = clock.now()
        guard let begin = minute.begin else {
            minute.begin = now
            return
        }
        guard now.milliseconds - begin.milliseconds >= SyncLimits.houseSeconds * 1000 else {
            return
        }
        let (succeeded, failed) = (minute.succeeded, minute.failed)
        do {
            try await store.write { transaction in
                let sample = Sample(
                    at: begin, depth: try transaction.queueCounts().open, succeeded: succeeded,
                    failed: failed, latencyMilliseconds: nil)
                try transaction.save(sample)
                _ = try transaction.sweep()
            }
        } catch {
            log.warning("house not kept", metadata: ["error": "\(error)"])
        }
        minute = Minute()
        minute.begin = now
    }
}
