import Synchronization
import TablesProtocol

/// Removes what is no longer kept, and counts it.
final class ExpiryRounds: Sendable {
    private let kept: KeptTimes
    private let calls: StorageCalls
    private let clock: @Sendable () -> Instant
    private let state = Mutex(ExpiryMeter())

    init(_ kept: KeptTimes, _ calls: StorageCalls, clock: @escaping @Sendable () -> Instant) {
        (self.kept, self.calls, self.clock) = (kept, calls, clock)
    }

    /// Removes effects and tombstones that are no longer kept, some at a time, so that no client waits for long.
    /// While another node is at it, this one leaves it to that.
    /// - Throws: the storage's error, or `CancellationError`. What was removed before that stays removed.
    func run() async throws {
        let expiry = kept.expiry(at: clock())
        while let removed = try await calls.onThread({
            try $0.removeExpired(expiry, limit: Limits.expiredAtOnce)
        }), removed != Expired() {
            state.withLock { $0.add(removed) }
            try await Task.sleep(for: .milliseconds(Limits.expiryPauseMilliseconds))
        }
        let oldest = try await calls.onThread { try $0.oldestKept() }
        state.withLock { $0.oldest = oldest }
    }

    /// What was removed since the start, and the ages of the oldest that is kept, as metrics.
    var metrics: [String] {
        let known = state.withLock { $0 }
        let now = clock()
        func age(_ time: Instant?) -> Int64 {
            time.map { max(now.milliseconds - $0.milliseconds, 0) / 1000 } ?? 0
        }
        let labels = ["effects", "tombstones"].map { "{kind=\"\($0)\"}" }
        let (total, oldest) = (known.total, known.oldest)
        return HealthRoutes.metric(
            "expired_total", "counter", "What was removed because of its age.",
            [(labels[0], "\(total.effects)"), (labels[1], "\(total.tombstones)")])
            + HealthRoutes.metric(
                "oldest_kept_seconds", "gauge", "The age of the oldest that is kept.",
                [
                    (labels[0], "\(age(oldest.effect))"),
                    (labels[1], "\(age(oldest.tombstone))"),
                ])
    }
}

/// What this process has removed, and what it saw last.
private struct ExpiryMeter: Sendable {
    var total = Expired()
    /// As of the last round.
    var oldest = OldestKept()

    mutating func add(_ removed: Expired) {
        total.effects += removed.effects
        total.tombstones += removed.tombstones
    }
}
