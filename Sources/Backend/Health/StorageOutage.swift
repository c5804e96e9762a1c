import Synchronization

/// A change of the storage that the operator should know of.
public enum StorageNews: Sendable, Hashable {
    /// It cannot answer; the reason is a sentence, which may name hosts.
    case unavailable(reason: String)
    /// It answers again.
    case answers
}

/// Reports when a storage cannot answer, at most once in ``Limits/outageReportSeconds``, and when it answers
/// again after such a report.
final class StorageOutage: Sendable {
    private struct State {
        /// The time of the last report that the storage cannot answer.
        var reportedAt: Duration?
        var report: (@Sendable (StorageNews) -> Void)?
    }

    /// A report is made under the lock, so that reports come in the order of what they say.
    private let state = Mutex(State())
    /// True from the report of an outage to the report of its end. It changes under the lock; each
    /// request reads it without the lock.
    private let isReported = Atomic(false)
    private let uptime: @Sendable () -> Duration

    /// - Parameter uptime: the time since some moment; it only goes forward.
    init(uptime: @escaping @Sendable () -> Duration) { self.uptime = uptime }

    /// Receives the reports. It must call nothing here.
    var report: (@Sendable (StorageNews) -> Void)? {
        get { state.withLock { $0.report } }
        set { state.withLock { $0.report = newValue } }
    }

    /// The storage could not answer.
    func began(_ reason: String) {
        let now = uptime()
        state.withLock { state in
            if let last = state.reportedAt, now - last < .seconds(Limits.outageReportSeconds) {
                return
            }
            state.reportedAt = now
            isReported.store(true, ordering: .relaxed)
            state.report?(.unavailable(reason: reason))
        }
    }

    /// The storage has answered.
    func ended() {
        guard isReported.load(ordering: .relaxed) else { return }
        state.withLock { state in
            guard isReported.exchange(false, ordering: .relaxed) else { return }
            state.report?(.answers)
        }
    }
}
