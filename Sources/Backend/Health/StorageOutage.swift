import Synchronization

/// A change of the storage that the operator should know of.
public enum StorageNews: Sendable, Hashable {
    /// It cannot answer; the reason is a sentence, which may name hosts.
    case unavailable(reason: String)
    /// It answers again.
    case answers
    /// It tells followers no changes; the reason is a sentence, which may name hosts.
    case silent(reason: String)
    /// It tells them again, those that were missed too.
    case tells
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

    /// Reports other news.
    func say(_ news: StorageNews) { state.withLock { $0.report?(news) } }

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

/// The use of a storage's connections.
package struct StorageLoad: Sendable, Hashable {
    /// The most connections.
    var limit: Int
    /// The number of connections in use.
    var inUse: Int
    /// The number of requests that wait for a connection, or for a thread to use it.
    var waiting: Int
    /// The number of times that a connection was lent.
    var calls: Int
    /// The time that connections were lent, all together, in seconds.
    var seconds: Double

    package init(limit: Int, inUse: Int, waiting: Int, calls: Int, seconds: Double) {
        self.limit = limit
        self.inUse = inUse
        self.waiting = waiting
        self.calls = calls
        self.seconds = seconds
    }
}
