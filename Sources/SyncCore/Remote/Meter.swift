import Synchronization

/// What requests to the backend came to since it was last asked: one for all passes of an engine.
final class Meter: Sendable {
    /// Requests of some time.
    struct Count: Sendable, Hashable {
        /// Answered with success.
        var succeeded = 0
        /// Answered otherwise, or not at all.
        var failed = 0
        /// How many were answered.
        var answered = 0
        /// The time that answers took, all together.
        var time = Duration.zero

        /// The mean time of an answer, in milliseconds; nil when there was none.
        var latencyMilliseconds: Int? {
            guard answered > 0 else { return nil }
            let (seconds, attoseconds) = (time / answered).components
            return Int(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
        }
    }
    private let count = Mutex(Count())

    /// Counts one request.
    func note(_ answer: RemoteAnswer, took: Duration) {
        count.withLock { count in
            switch answer {
            case .row, .rows, .empty: count.succeeded += 1
            case .conflict, .missing, .unauthorized, .rejected, .failed, .unavailable, .unusable,
                .unreachable:
                count.failed += 1
            }
            if case .unreachable = answer { return }
            count.answered += 1
            count.time += took
        }
    }

    /// What was counted, and begins anew.
    func take() -> Count {
        count.withLock { count in
            defer { count = Count() }
            return count
        }
    }
}
