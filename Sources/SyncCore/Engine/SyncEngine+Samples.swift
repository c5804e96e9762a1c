import Logging
public import TablesProtocol

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
    /// The beginning of its minute.
    fileprivate var minute: Instant { roundedDown(toSeconds: 60) }
}
