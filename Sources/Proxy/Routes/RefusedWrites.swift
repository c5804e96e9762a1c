import Logging
import SyncCore
import Synchronization
import TablesProtocol

/// Counts and logs the writes that a store refused, whatever they were. Of each reason the first one is
/// logged at once, and the others with their number after ``Limits/refusedWritesSeconds``. Clients may try
/// without end, and the log must not grow with them.
final class RefusedWrites: Sendable {
    /// Why a store takes no write. The raw value is a stable word for programs.
    enum Reason: String, Sendable, Hashable, CaseIterable {
        case diskBudget = "disk-budget"
        case disk
        case readOnly = "read-only"
        case busy
        case failed
        /// The store of an identity cannot be opened.
        case unopened
    }

    private struct Count {
        var total = 0
        var logged = 0
        /// When a line was last logged; nil before the first.
        var loggedAt: Instant?
    }

    private let log: Logger
    private let now: @Sendable () -> Instant
    private let counts = Mutex<[Reason: Count]>([:])

    init(log: Logger, now: @escaping @Sendable () -> Instant) {
        self.log = log
        self.now = now
    }

    /// Counts a write if the store refused it.
    func note(_ outcome: WriteOutcome, status: Int) {
        if let reason = Reason(outcome) { note(reason, status: status) }
    }

    /// Counts a refused write.
    func note(_ reason: Reason, status: Int) {
        let at = now()
        let unlogged = counts.withLock { counts -> Int? in
            var count = counts[reason] ?? Count()
            count.total += 1
            defer { counts[reason] = count }
            if let last = count.loggedAt {
                let age = at.milliseconds - last.milliseconds
                // A clock that was set back does not silence the log.
                guard !(0..<Limits.refusedWritesSeconds * 1000).contains(age) else { return nil }
            }
            let unlogged = count.total - count.logged
            (count.logged, count.loggedAt) = (count.total, at)
            return unlogged
        }
        guard let unlogged else { return }
        log.warning(
            "writes refused",
            metadata: [
                "reason": "\(reason.sentence)", "status": .stringConvertible(status),
                "writes": .stringConvertible(unlogged),
            ])
    }

    /// The number of refused writes since the start, for every reason.
    var totals: [(reason: Reason, count: Int)] {
        let counts = counts.withLock { $0 }
        return Reason.allCases.map { (reason: $0, count: counts[$0]?.total ?? 0) }
    }
}

extension RefusedWrites.Reason {
    /// The reason of an outcome; nil for a success, and for a verdict on the write itself.
    init?(_ outcome: WriteOutcome) {
        switch outcome {
        case .storageFull(byBudget: true): self = .diskBudget
        case .storageFull(byBudget: false): self = .disk
        case .readOnly: self = .readOnly
        case .busy: self = .busy
        case .failed: self = .failed
        default: return nil
        }
    }

    fileprivate var sentence: String {
        switch self {
        case .diskBudget: "the disk budget is used up"
        case .disk: "the disk is full"
        case .readOnly: "the store cannot be written"
        case .busy: "too many writes wait for the disk"
        case .failed: "the store failed"
        case .unopened: "the store of an identity cannot be opened"
        }
    }
}
