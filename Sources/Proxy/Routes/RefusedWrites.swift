import Logging
import SyncCore
import Synchronization
import TablesProtocol

/// Logs the writes that the store refuses: the first of each reason at once, the others with their count
/// after ``Limits/refusedWritesSeconds``. Clients may try without end, and the log must not grow with them.
final class RefusedWrites: Sendable {
    private let log: Logger
    private let now: @Sendable () -> Instant
    private let lines = Mutex<[String: Line]>([:])

    private struct Line {
        /// When it was last logged.
        var at: Instant
        /// The writes since.
        var count = 0
    }

    /// Makes an empty one.
    init(log: Logger, now: @escaping @Sendable () -> Instant) {
        self.log = log
        self.now = now
    }

    /// Counts a write if it was refused.
    func note(_ outcome: WriteOutcome, status: Int) {
        guard let reason = outcome.refusal else { return }
        let at = now()
        let due = at.adding(seconds: -Limits.refusedWritesSeconds)
        let count = lines.withLock { lines -> Int? in
            var line = lines[reason] ?? Line(at: .earliest)
            line.count += 1
            defer { lines[reason] = line }
            // A clock that was set back does not silence it.
            guard line.at <= due || line.at > at else { return nil }
            defer { line = Line(at: at) }
            return line.count
        }
        guard let count else { return }
        log.warning(
            "writes refused",
            metadata: [
                "reason": "\(reason)", "status": .stringConvertible(status),
                "writes": .stringConvertible(count),
            ])
    }
}

extension WriteOutcome {
    /// Why the store took no write, whatever the write was; nil for a verdict on the write itself.
    var refusal: String? {
        switch self {
        case .storageFull(byBudget: true): "the disk budget is used up"
        case .storageFull(byBudget: false): "the disk is full"
        case .readOnly: "the store cannot be written"
        case .busy: "too many writes wait for the disk"
        case .failed: "the store failed"
        case .inserted, .updated, .deleted, .undeleted, .missing, .gone, .preconditionFailed,
            .alreadyExists, .unknownWhilePartial, .tableNotAllowed, .invalid:
            nil
        }
    }
}
