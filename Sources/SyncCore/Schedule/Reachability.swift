import TablesProtocol

/// How long the backend was in which state, since this was last taken.
struct Reachability: Sendable, Hashable {
    /// Whether and how the backend could be used.
    private(set) var state: Sample.Reach
    /// The uptime until which the times are counted.
    private var countedUntil: Duration
    private var times: [Sample.Reach: Duration] = [:]

    init(_ state: Sample.Reach, now: Duration) {
        self.state = state
        countedUntil = now
    }

    /// Counts the time until now as that of the state so far, and begins with another one.
    mutating func become(_ state: Sample.Reach, now: Duration) {
        times[self.state, default: .zero] += max(now - countedUntil, .zero)
        countedUntil = now
        self.state = state
    }

    /// The times until now, in milliseconds.
    func milliseconds(now: Duration) -> [Sample.Reach: Int64] {
        var counted = self
        counted.become(state, now: now)
        return counted.times.mapValues { $0.wholeMilliseconds }.filter { $0.value > 0 }
    }

    /// Forgets the times until now.
    mutating func restart(now: Duration) {
        times = [:]
        countedUntil = now
    }
}
