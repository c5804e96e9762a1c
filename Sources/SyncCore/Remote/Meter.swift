import Synchronization
import TablesProtocol

/// Counts an engine's requests to the backend and their times: in total, and since the last sample.
final class Meter: Sendable {
    struct Count: Sendable, Hashable {
        /// The number of requests answered with success.
        var succeeded = 0
        /// The number of all other requests.
        var failed = 0
        var answered = 0
        /// The total time of the answered requests.
        var time = Duration.zero
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
        /// The times of the latest answers, the last one last.
        var latest: [Duration] = []
        var server: String?
    }
    private let state = Mutex(State())

    /// - Parameter server: how the server names itself in the answer; nil if it does not.
    func note(_ answer: RemoteAnswer, of server: String? = nil, took: Duration) {
        let outcome = answer.outcome
        state.withLock { state in
            state.server = server ?? state.server
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
            if state.latest.count == SyncLimits.latestAnswers { state.latest.removeFirst() }
            state.latest.append(took)
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

    /// The median time of the latest answers; zero without any.
    var median: Duration {
        let latest = state.withLock { $0.latest.sorted() }
        return latest.isEmpty ? .zero : latest[latest.count / 2]
    }

    /// How the server names itself, such as `node-3.0.0`; nil if it never did.
    var server: String? {
        get { state.withLock { $0.server } }
        set { state.withLock { $0.server = newValue } }
    }

    /// The times of all requests since the start.
    var times: RequestTimes { state.withLock { $0.times } }
}

public enum RequestOutcome: String, Sendable, Hashable, CaseIterable {
    /// A readable answer with status 2xx.
    case succeeded
    /// A verdict against it: a conflict, missing, not allowed, or invalid.
    case refused
    /// No verdict: a failure of the backend, an unusable answer, or "not now".
    case failed
    /// No complete answer came.
    case unreachable
}

/// The times of requests to the backend: one histogram for each outcome.
public struct RequestTimes: Sendable, Hashable {
    /// The histograms of the outcomes that occurred.
    public private(set) var histograms: [RequestOutcome: DurationHistogram] = [:]

    private static let empty = DurationHistogram(
        boundsMilliseconds: SyncLimits.requestTimeBoundsMilliseconds)

    public init() {}

    mutating func note(_ outcome: RequestOutcome, took time: Duration) {
        histograms[outcome, default: Self.empty].note(time)
    }

    /// Adds the requests of another identity.
    public mutating func add(_ other: RequestTimes) {
        for (outcome, histogram) in other.histograms {
            histograms[outcome, default: Self.empty].add(histogram)
        }
    }
}

/// How many durations fell between which bounds.
public struct DurationHistogram: Sendable, Hashable {
    /// The upper bounds in milliseconds, ascending.
    public let boundsMilliseconds: [Int]
    /// For each bound, the number of durations up to it and above the bound before. The last count is for
    /// those above every bound.
    public private(set) var counts: [Int]
    public private(set) var sum = Duration.zero

    public init(boundsMilliseconds: [Int]) {
        self.boundsMilliseconds = boundsMilliseconds
        counts = Array(repeating: 0, count: boundsMilliseconds.count + 1)
    }

    public var count: Int { counts.reduce(0, +) }

    public mutating func note(_ time: Duration) {
        let place =
            boundsMilliseconds.firstIndex { time <= .milliseconds($0) } ?? boundsMilliseconds.count
        counts[place] += 1
        sum += time
    }

    public mutating func add(_ other: DurationHistogram) {
        for (place, count) in other.counts.enumerated() { counts[place] += count }
        sum += other.sum
    }
}

/// The times of a backend's answers as a histogram from which percentiles are read.
///
/// The classes grow by the fourth root of two, so a percentile is at most 19 % above the exact one, and then
/// rounded up to whole milliseconds. Of answers that took longer than the last bound, it is that bound.
/// Histograms of several minutes add up to that of the whole time, which percentiles do not.
public struct AnswerTimes: Sendable, Hashable {
    /// The upper bounds of the classes in milliseconds; a slower answer counts in the last one.
    public static let boundsMilliseconds: [Double] = {
        let growth = 2.0.squareRoot().squareRoot()
        var bounds: [Double] = []
        for place in 0..<SyncLimits.answerTimeClasses {
            // Each fourth bound is a power of two, so that rounding errors do not grow.
            bounds.append(place % 4 == 0 ? Double(1 << (place / 4)) : bounds[place - 1] * growth)
        }
        return bounds
    }()

    /// The number of answers in each class that has any.
    private(set) var counts: [Int: Int] = [:]

    public init() {}

    public var count: Int { counts.values.reduce(0, +) }

    mutating func note(_ time: Duration) {
        let milliseconds = time / .milliseconds(1)
        let place = Self.boundsMilliseconds.firstIndex { milliseconds <= $0 }
        counts[place ?? Self.boundsMilliseconds.count - 1, default: 0] += 1
    }

    mutating func add(_ other: AnswerTimes) {
        counts.merge(other.counts) { $0 + $1 }
    }

    /// The time within which a share of the answers came: the upper bound of the class in which the last
    /// of them is, in whole milliseconds rounded up; nil without answers.
    /// - Parameter share: from 0 to 1; 0.95 for the 95th percentile.
    public func percentileMilliseconds(_ share: Double) -> Int? {
        let wanted = max(1, Int((Double(count) * share).rounded(.up)))
        var seen = 0
        for (place, count) in counts.sorted(by: { $0.key < $1.key }) {
            seen += count
            if seen >= wanted { return Int(Self.boundsMilliseconds[place].rounded(.up)) }
        }
        return nil
    }

    // MARK: As stored

    /// The classes as a JSON array of "class count".
    var stored: String {
        JSONList.text(counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })
    }

    /// Reads ``stored``. What is not readable, since the store is damaged, is left out.
    init(stored text: String) {
        for (name, count) in JSONList.counts(text) {
            guard let place = Int(name), Self.boundsMilliseconds.indices.contains(place) else {
                continue
            }
            counts[place] = Int(count)
        }
    }
}
