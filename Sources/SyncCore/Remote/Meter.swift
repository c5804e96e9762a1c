import Synchronization

/// What requests to the backend came to, since it was last asked and since the start: one for all
/// passes of an engine.
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
    private struct State {
        var count = Count()
        var times = RequestTimes()
    }
    private let state = Mutex(State())

    /// Counts one request.
    func note(_ answer: RemoteAnswer, took: Duration) {
        let outcome = Self.outcome(answer)
        state.withLock { state in
            state.times.note(outcome, took: took)
            if outcome == .succeeded {
                state.count.succeeded += 1
            } else {
                state.count.failed += 1
            }
            if outcome == .unreachable { return }
            state.count.answered += 1
            state.count.time += took
        }
    }

    private static func outcome(_ answer: RemoteAnswer) -> RequestTimes.Outcome {
        switch answer {
        case .row, .rows, .empty: .succeeded
        case .conflict, .missing, .unauthorized, .rejected: .refused
        case .failed, .unavailable, .unusable: .failed
        case .unreachable: .unreachable
        }
    }

    /// What was counted, and begins anew.
    func take() -> Count {
        state.withLock { state in
            defer { state.count = Count() }
            return state.count
        }
    }

    /// How long all requests since the start took.
    var times: RequestTimes { state.withLock { $0.times } }
}
