/// How many durations fell between which bounds.
public struct DurationHistogram: Sendable, Hashable {
    /// The upper bounds in milliseconds, ascending.
    public let boundsMilliseconds: [Int]
    /// For each bound, the number of durations up to it and above the bound before. The last count is for
    /// those above every bound.
    public private(set) var counts: [Int]
    /// The total of the durations.
    public private(set) var sum = Duration.zero

    /// An empty histogram.
    public init(boundsMilliseconds: [Int]) {
        self.boundsMilliseconds = boundsMilliseconds
        counts = Array(repeating: 0, count: boundsMilliseconds.count + 1)
    }

    /// The number of durations.
    public var count: Int { counts.reduce(0, +) }

    /// Adds a duration.
    public mutating func note(_ time: Duration) {
        let place =
            boundsMilliseconds.firstIndex { time <= .milliseconds($0) } ?? boundsMilliseconds.count
        counts[place] += 1
        sum += time
    }

    /// Adds the durations of another histogram with the same bounds.
    public mutating func add(_ other: DurationHistogram) {
        for (place, count) in other.counts.enumerated() { counts[place] += count }
        sum += other.sum
    }
}
