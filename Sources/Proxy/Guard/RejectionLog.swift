import HTTPMessage
import Synchronization
import TablesProtocol

/// Counts what guard and server refused since the start, by reason, for the dashboard and the
/// metrics.
final class RejectionLog: Sendable {
    /// What is known of one reason.
    struct Entry: Sendable, Hashable {
        let reason: RejectionReason
        var count: Int
        var lastAt: Instant
        var lastDetail: String?
    }

    private let entries = Mutex<[RejectionReason: Entry]>([:])
    private let now: @Sendable () -> Instant

    /// Makes an empty log.
    init(now: @escaping @Sendable () -> Instant) {
        self.now = now
    }

    /// Counts a refusal of the guard.
    func count(_ refusal: Refusal) { count(.guarded(refusal.reason), detail: refusal.detail) }

    /// Counts a refusal of the server.
    func count(_ reason: RefusalReason) { count(.unread(reason), detail: nil) }

    private func count(_ reason: RejectionReason, detail: String?) {
        let at = now()
        entries.withLock { entries in
            let before = entries[reason]?.count ?? 0
            entries[reason] = Entry(
                reason: reason, count: before + 1, lastAt: at, lastDetail: detail)
        }
    }

    /// Every reason that occurred.
    var all: [Entry] {
        entries.withLock { entries in RejectionReason.all.compactMap { entries[$0] } }
    }

    /// All refusals together.
    var total: Int { all.reduce(0) { $0 + $1.count } }
}
