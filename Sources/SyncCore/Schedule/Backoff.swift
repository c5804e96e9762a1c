import TablesProtocol

/// Waits before a retry, with full jitter, so that many clients which failed together do not return
/// together.
enum Backoff {
    /// The wait before the next probe of the backend, after `failures` failed probes in an outage of this
    /// length. The longer the outage, the longer the wait may be: a whole fleet may wait for the same backend.
    static func probe(
        failures: Int, outage: Duration, random: any RandomSource
    ) -> Duration {
        let cap = UInt64(SyncLimits.longestProbeWait(outage: outage).wholeMilliseconds)
        return jitter(SyncLimits.probeBaseMilliseconds, cap, failures, random)
    }

    /// The wait before the next attempt of an operation, after `failures` attempts without a verdict.
    static func operation(failures: Int, random: any RandomSource) -> Duration {
        jitter(
            SyncLimits.operationBaseMilliseconds, SyncLimits.operationCapMilliseconds, failures,
            random)
    }

    /// The wait before a table is tried again that the backend fails for, after `failures` failures in a row.
    static func table(failures: Int, random: any RandomSource) -> Duration {
        max(
            operation(failures: failures, random: random),
            .milliseconds(SyncLimits.tableFloorMilliseconds))
    }

    /// A random wait up to base × 2^(failures - 1), at most the cap.
    private static func jitter(
        _ base: UInt64, _ cap: UInt64, _ failures: Int, _ random: any RandomSource
    ) -> Duration {
        let doublings = min(max(failures - 1, 0), SyncLimits.backoffDoublings)
        let bound = min(cap, base << UInt64(doublings))
        return .milliseconds(Int64(random.next(below: bound + 1)))
    }
}
