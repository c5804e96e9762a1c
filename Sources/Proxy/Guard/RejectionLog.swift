import HTTPTypes
import Synchronization
import TablesProtocol

/// Counts what the guard refused since the start, by reason, for the dashboard and the metrics.
final class RejectionLog: Sendable {
    /// What is known of one reason.
    struct Entry: Sendable, Hashable {
        let reason: Refusal.Reason
        let status: Int
        var count: Int
        var lastAt: Instant
        var lastDetail: String?
        var sentence: String
    }

    private let entries = Mutex<[Refusal.Reason: Entry]>([:])
    private let now: @Sendable () -> Instant

    /// Makes an empty log.
    init(now: @escaping @Sendable () -> Instant) {
        self.now = now
    }

    /// Counts one refusal.
    func count(_ refusal: Refusal) {
        let at = now()
        entries.withLock { entries in
            let before = entries[refusal.reason]?.count ?? 0
            entries[refusal.reason] = Entry(
                reason: refusal.reason, status: refusal.status.code, count: before + 1, lastAt: at,
                lastDetail: refusal.detail, sentence: refusal.sentence)
        }
    }

    /// Every reason that occurred, in the order of the pipeline.
    var all: [Entry] {
        entries.withLock { entries in Refusal.Reason.allCases.compactMap { entries[$0] } }
    }

    /// All refusals together.
    var total: Int { all.reduce(0) { $0 + $1.count } }
}
