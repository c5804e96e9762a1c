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

/// How long requests to the backend took, as a histogram for each of their outcomes.
public struct RequestTimes: Sendable, Hashable {
    /// What a request came to.
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// 2xx that could be read.
        case succeeded
        /// A verdict against it: another version, missing, not allowed, not understood.
        case refused
        /// No verdict: an error of the backend's own, an answer that is none, not now.
        case failed
        /// No complete answer came.
        case unreachable
    }

    /// The requests of one outcome.
    public struct Histogram: Sendable, Hashable {
        /// How many took no longer than the bound at the same place in
        /// ``SyncLimits/requestTimeBoundsMilliseconds``, and longer than the one before; the last
        /// counts those beyond all bounds.
        public private(set) var counts = Array(
            repeating: 0, count: SyncLimits.requestTimeBoundsMilliseconds.count + 1)
        /// Their time, all together.
        public private(set) var sum = Duration.zero

        /// How many there were.
        public var count: Int { counts.reduce(0, +) }

        mutating func note(_ time: Duration) {
            let bounds = SyncLimits.requestTimeBoundsMilliseconds
            let place = bounds.firstIndex { time <= .milliseconds($0) } ?? bounds.count
            counts[place] += 1
            sum += time
        }

        mutating func add(_ other: Histogram) {
            for (place, count) in other.counts.enumerated() { counts[place] += count }
            sum += other.sum
        }
    }

    /// The histogram of each outcome that there was.
    public private(set) var histograms: [Outcome: Histogram] = [:]

    /// No requests.
    public init() {}

    mutating func note(_ outcome: Outcome, took time: Duration) {
        histograms[outcome, default: Histogram()].note(time)
    }

    /// Adds the requests of another identity.
    public mutating func add(_ other: RequestTimes) {
        for (outcome, histogram) in other.histograms {
            histograms[outcome, default: Histogram()].add(histogram)
        }
    }
}
