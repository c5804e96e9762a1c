import Synchronization
import TablesProtocol

extension TablesBackend {
    /// Removes effects and tombstones that are no longer kept, some at a time, so that no client waits for long.
    /// While another node is at it, this one leaves it to that.
    /// - Throws: the storage's error, or `CancellationError`. What was removed before that stays removed.
    public func removeExpired() async throws {
        let expiry = options.kept.expiry(at: clock())
        while let removed = try await onStorageThread({
            try $0.removeExpired(expiry, limit: Limits.expiredAtOnce)
        }), removed != Expired() {
            expired.withLock { $0.add(removed) }
            try await Task.sleep(for: .milliseconds(Limits.expiryPauseMilliseconds))
        }
        let oldest = try await onStorageThread { try $0.oldestKept() }
        expired.withLock { $0.oldest = oldest }
    }

    /// What was removed since the start, and the ages of the oldest that is kept, as metrics.
    var expiryMetrics: [String] {
        let state = expired.withLock { $0 }
        let now = clock()
        func age(_ time: Instant?) -> Int64 {
            time.map { max(now.milliseconds - $0.milliseconds, 0) / 1000 } ?? 0
        }
        let kinds = [
            ("effects", state.total.effects, age(state.oldest.effect)),
            ("tombstones", state.total.tombstones, age(state.oldest.tombstone)),
        ]
        let removed = "understudy_node_expired_total"
        let oldest = "understudy_node_oldest_kept_seconds"
        var lines = [
            "# HELP \(removed) What was removed because of its age.", "# TYPE \(removed) counter",
        ]
        lines += kinds.map { "\(removed){kind=\"\($0.0)\"} \($0.1)" }
        lines += ["# HELP \(oldest) The age of the oldest that is kept.", "# TYPE \(oldest) gauge"]
        lines += kinds.map { "\(oldest){kind=\"\($0.0)\"} \($0.2)" }
        return lines
    }
}

/// What this process has removed, and what it saw last.
struct ExpiryMeter: Sendable {
    private(set) var total = Expired()
    /// As of the last round.
    var oldest = OldestKept()

    mutating func add(_ removed: Expired) {
        total.effects += removed.effects
        total.tombstones += removed.tombstones
    }
}
