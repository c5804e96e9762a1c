import Synchronization
import TablesProtocol

/// Counts an engine's requests to the backend and their times: in total, and since the last sample.
final class Meter: Sendable {
    /// The counts of a period.
    struct Count: Sendable, Hashable {
        /// The number of requests answered with success.
        var succeeded = 0
        /// The number of all other requests.
        var failed = 0
        /// The number of requests that were answered.
        var answered = 0
        /// The total time of the answered requests.
        var time = Duration.zero
        /// The times of the answered requests.
        var answers = AnswerTimes()

        /// The mean time of an answer, in milliseconds; nil if there was none.
        var latencyMilliseconds: Int? {
            guard answered > 0 else { return nil }
            return Int((time / answered).wholeMilliseconds)
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
            state.count.answers.note(took)
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

    /// The counts since the last call.
    func take() -> Count {
        state.withLock { state in
            defer { state.count = Count() }
            return state.count
        }
    }

    /// The counts since the last ``take()``.
    var present: Count { state.withLock { $0.count } }

    /// The times of all requests since the start.
    var times: RequestTimes { state.withLock { $0.times } }
}

/// The times of requests to the backend: one histogram for each outcome.
public struct RequestTimes: Sendable, Hashable {
    /// The outcome of a request.
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// A readable answer with status 2xx.
        case succeeded
        /// A verdict against it: a conflict, missing, not allowed, or invalid.
        case refused
        /// No verdict: a failure of the backend, an unusable answer, or "not now".
        case failed
        /// No complete answer came.
        case unreachable
    }

    /// The histograms of the outcomes that occurred.
    public private(set) var histograms: [Outcome: DurationHistogram] = [:]

    private static let empty = DurationHistogram(
        boundsMilliseconds: SyncLimits.requestTimeBoundsMilliseconds)

    /// No requests.
    public init() {}

    mutating func note(_ outcome: Outcome, took time: Duration) {
        histograms[outcome, default: Self.empty].note(time)
    }

    /// Adds the requests of another identity.
    public mutating func add(_ other: RequestTimes) {
        for (outcome, histogram) in other.histograms {
            histograms[outcome, default: Self.empty].add(histogram)
        }
    }
}
