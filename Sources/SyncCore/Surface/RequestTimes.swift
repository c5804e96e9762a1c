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
