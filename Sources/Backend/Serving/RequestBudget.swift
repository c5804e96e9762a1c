package import TablesProtocol

/// Limits the requests that a backend takes in a second: a token bucket. It refuses a request before
/// that costs anything, and says when to return, so that clients that were away together do not all
/// return at once.
///
/// 1. Permits come at the rate. Unused ones are kept, at most those of ``Limits/budgetBurstMilliseconds``.
/// 2. A request takes one permit.
/// 3. A request without a permit is refused, and gets the next place in a line. Places are due one after the
///    other, at ``Limits/returnShare`` of the rate, because a client that returns sends several requests.
package struct RequestBudget: Sendable {
    /// The answer to a request.
    package enum Decision: Sendable, Hashable {
        case accepted
        /// 429, with these seconds as `Retry-After`, 1 or more.
        case refused(retryAfterSeconds: Int)
    }

    private let perMillisecond: Double
    private var permits: PermitBucket
    /// The time at which the last place in the line is due, in milliseconds.
    private var lastPlace = 0.0

    /// A budget of this many requests a second, with the permits of a whole burst.
    package init(requestsPerSecond: Int) {
        perMillisecond = Double(max(requestsPerSecond, 1)) / 1000
        permits = PermitBucket(
            perSecond: requestsPerSecond, burstMilliseconds: Limits.budgetBurstMilliseconds)
    }

    /// Decides about one request. A clock that was set back gives no permits, and no client waits longer
    /// than ``Limits/budgetWaitSeconds`` because of it.
    package mutating func decide(now: Instant) -> Decision {
        if permits.take(now: now) { return .accepted }
        let wall = Double(now.milliseconds)
        let longest = wall + Double(Limits.budgetWaitSeconds) * 1000
        lastPlace = min(max(lastPlace, wall) + 1 / (perMillisecond * Limits.returnShare), longest)
        let seconds = ((lastPlace - wall) / 1000).rounded(.up)
        return .refused(retryAfterSeconds: max(Int(seconds), 1))
    }
}

/// Permits that come at a rate; unused ones are kept, up to a bound.
struct PermitBucket: Sendable {
    private let perMillisecond: Double
    private let most: Double
    private var permits: Double
    private var last: Instant?

    /// A full bucket, which keeps the permits of so many milliseconds, and one at least.
    init(perSecond: Int, burstMilliseconds: Double) {
        perMillisecond = Double(max(perSecond, 1)) / 1000
        most = max(perMillisecond * burstMilliseconds, 1)
        permits = most
    }

    /// Takes a permit.
    /// - Returns: false where there is none. A clock that was set back gives none.
    mutating func take(now: Instant) -> Bool {
        let elapsed = last.map { Double(max(now.milliseconds - $0.milliseconds, 0)) } ?? 0
        last = now
        permits = min(most, permits + elapsed * perMillisecond)
        guard permits >= 1 else { return false }
        permits -= 1
        return true
    }
}
