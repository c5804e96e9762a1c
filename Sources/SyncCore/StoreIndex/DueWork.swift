public import TablesProtocol

/// When the work of a closed store is due.
public enum DueWork: Sendable, Hashable {
    /// None waits for a time.
    case never
    /// As soon as it can be sent; it carries no time, so no clock that is set back delays it.
    case now
    /// At a time of the clock that showed `noted` when the store was closed.
    case at(Instant, noted: Instant)

    /// Whether it is due. A time by a clock that was set back since says nothing any more: then it is, and
    /// the engine looks at the times in the store.
    public func isDue(_ now: Instant) -> Bool {
        switch self {
        case .never: false
        case .now: true
        case .at(let time, let noted):
            time <= now || now.advanced(by: .seconds(SyncLimits.clockSlackSeconds)) < noted
        }
    }

    /// What is due first of both.
    public func earlier(_ other: DueWork) -> DueWork {
        switch (self, other) {
        case (.now, _), (_, .now): .now
        case (.never, let due), (let due, .never): due
        case (.at(let time, _), .at(let second, _)): time <= second ? self : other
        }
    }

    /// That of a store in which work waits for a time, or for none. A time is bounded by the longest wait
    /// that there is.
    init(_ time: Instant?, noted now: Instant) {
        guard let time else {
            self = .never
            return
        }
        let latest = now.advanced(by: .seconds(SyncLimits.retryAfterSeconds))
        self = time <= now ? .now : .at(min(time, latest), noted: now)
    }
}
