import TablesProtocol

/// Decides when the backend is asked for its stream of changes. Pure.
///
/// Most backends have no such stream. One that answers otherwise is left alone for a long while, and its answer
/// says nothing else about it.
struct FollowPlan: Sendable, Hashable {
    /// How a request for the stream ended.
    enum End: Sendable, Hashable {
        /// An answer that is no stream.
        case notOffered
        /// The credential is refused.
        case refused
        /// No answer, or one to come again, perhaps after a time.
        case unavailable(retryAfter: Duration?)
        /// The stream was here for this time, and has ended.
        case ended(after: Duration)
        /// The engine gave it up, because something has changed here.
        case givenUp
    }

    /// Whether this backend has ever offered the stream.
    private(set) var isOffered = false
    /// The requests in a row without a stream that lasted.
    private(set) var failures = 0
    /// Over how long followers spread what they do, as the backend last said.
    private(set) var spread = Duration.milliseconds(SyncLimits.changeSpreadMilliseconds)

    /// Records that a stream has begun.
    mutating func began() { isOffered = true }

    /// Records the backend's word about the spread.
    mutating func take(spread milliseconds: Int) {
        spread = .milliseconds(min(milliseconds, SyncLimits.changeSpreadMaxMilliseconds))
    }

    /// The kind of an answer that is no stream.
    func end(status: Int, retryAfter: Duration?) -> End {
        switch status {
        case 401, 403: .refused
        case 429, 503: .unavailable(retryAfter: retryAfter)
        case 500... where isOffered: .unavailable(retryAfter: retryAfter)
        default: .notOffered
        }
    }

    /// How long to wait before the next request, with full jitter; nil until something changes here.
    mutating func pause(after end: End, random: any RandomSource) -> Duration? {
        switch end {
        case .givenUp: return .zero
        case .notOffered:
            failures = 0
            return .seconds(SyncLimits.followRestSeconds)
        case .refused:
            failures = 0
            return .seconds(SyncLimits.followRefusedSeconds)
        case .ended(let time) where time >= .seconds(SyncLimits.followLastingSeconds):
            failures = 0
            return jitter(atMost: spread, random)
        case .ended:
            failures += 1
            return jitter(atMost: max(spread, backoff), random)
        case .unavailable(let retryAfter):
            failures += 1
            return (retryAfter ?? .zero) + jitter(atMost: max(spread, backoff), random)
        }
    }

    /// When a change that is heard now is pulled.
    func pullDelay(random: any RandomSource) -> Duration { jitter(atMost: spread, random) }

    /// The longest wait after this many failures. A backend that has never offered the stream is asked ever more
    /// rarely.
    private var backoff: Duration {
        let doublings = min(max(failures - 1, 0), SyncLimits.backoffDoublings)
        let cap =
            isOffered ? SyncLimits.followCapSeconds : SyncLimits.followRestSeconds
        return min(
            .milliseconds(SyncLimits.changeSpreadMilliseconds << Int64(doublings)), .seconds(cap))
    }

    private func jitter(atMost longest: Duration, _ random: any RandomSource) -> Duration {
        .milliseconds(Int64(random.next(below: UInt64(max(longest.wholeMilliseconds, 0)) + 1)))
    }
}

/// Tables that were said to have changed, each with the uptime at which it is pulled. Pure.
struct HeardChanges: Sendable, Hashable {
    private(set) var due: [TableName: Duration] = [:]

    /// When the first one is due; nil without any.
    var next: Duration? { due.values.min() }

    /// Adds a table; one that waits already keeps its time.
    mutating func add(_ table: TableName, at time: Duration) {
        due[table] = min(due[table] ?? time, time)
    }

    /// Removes the tables that are due.
    mutating func take(now: Duration) -> [TableName] {
        let taken = due.filter { $0.value <= now }.keys.sorted { $0.key < $1.key }
        for table in taken { due[table] = nil }
        return taken
    }
}
