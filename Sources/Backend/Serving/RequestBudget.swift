package import TablesProtocol

/// How many requests a second a backend takes. It refuses what comes beyond before that costs anything, and
/// says when there is room, so that clients that were away together do not all return at once.
///
/// 1. Room for requests comes at a rate, and is kept for at most ``Limits/budgetBurstMilliseconds``.
/// 2. A request that finds room takes it.
/// 3. Any other request gets the next place in the line of those that are to return. Places are given out at
///    ``Limits/returnShare`` of the rate: whoever returns has more than one request.
package struct RequestBudget: Sendable {
    /// The answer to a request.
    package enum Decision: Sendable, Hashable {
        case accepted
        /// 429, with these seconds as `Retry-After`, 1 or more.
        case refused(retryAfterSeconds: Int)
    }

    private let perMillisecond: Double
    private let burst: Double
    private var room: Double
    private var last: Instant?
    /// When the last place in the line is due, in milliseconds.
    private var lastPlace = 0.0

    /// A budget of this many requests a second, with room for a burst.
    package init(requestsPerSecond: Int) {
        perMillisecond = Double(max(requestsPerSecond, 1)) / 1000
        burst = max(perMillisecond * Limits.budgetBurstMilliseconds, 1)
        room = burst
    }

    /// Decides about one request. A clock that was set back gives no room and keeps no place beyond the
    /// longest wait.
    package mutating func decide(now: Instant) -> Decision {
        let elapsed = last.map { Double(max(now.milliseconds - $0.milliseconds, 0)) } ?? 0
        last = now
        room = min(burst, room + elapsed * perMillisecond)
        if room >= 1 {
            room -= 1
            return .accepted
        }
        let wall = Double(now.milliseconds)
        let longest = wall + Double(Limits.budgetWaitSeconds) * 1000
        lastPlace = min(max(lastPlace, wall) + 1 / (perMillisecond * Limits.returnShare), longest)
        let seconds = ((lastPlace - wall) / 1000).rounded(.up)
        return .refused(retryAfterSeconds: max(Int(seconds), 1))
    }
}
