import Logging
import TablesProtocol

/// What an engine does once a minute beside its runs: it stores a sample, removes what has expired, and builds
/// indexes that are missing.
final class Maintenance: InEngine {
    let context: EngineContext
    /// When the last sample was taken.
    private var minuteBegin: Instant
    /// When expired rows were last removed.
    private var sweptAt: Instant
    /// When history and attempts were last held within their bytes; nil before the first time.
    private var bytesHeldAt: Instant?

    init(_ context: EngineContext) {
        self.context = context
        minuteBegin = context.clock.now()
        sweptAt = minuteBegin
    }

    /// Once a minute: stores a sample, and removes expired rows, and builds indexes that are missing.
    func run() async {
        await sampleMinute()
        let now = clock.now()
        // A negative time: the clock was set back.
        let passed = now.milliseconds - sweptAt.milliseconds
        guard !(0..<SyncLimits.maintenanceSeconds * 1000).contains(passed) else { return }
        sweptAt = now
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
        await store.health.shrinkLog()
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

    // MARK: Samples

    /// Stores a sample when a minute of the wall clock is over. A long run does not delay it: the
    /// watchdog's task calls this too.
    func sampleMinute() async {
        let (now, uptime) = (clock.now(), clock.uptime())
        guard now.minute != minuteBegin.minute else { return }
        let (begin, count) = (minuteBegin, context.meter.take())
        let reach = context.scheduler.reachability.milliseconds(now: uptime)
        minuteBegin = now
        context.scheduler.reachability.restart(now: uptime)
        // After a failure the counts of requests are not kept. Those of operations go into the next sample.
        await write(or: "sample not stored") { transaction in
            try transaction.samples.save(
                Self.sample(
                    begin.minute, count, reach, depth: transaction.ledger.queueCounts().open))
        }
    }

    func samples(since: Instant, stepSeconds: Int) async throws(StoreError) -> [Sample] {
        let (begin, count) = (minuteBegin, context.meter.present)
        let reach = context.scheduler.reachability.milliseconds(now: clock.uptime())
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
