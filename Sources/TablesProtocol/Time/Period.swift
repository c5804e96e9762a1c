/// A stretch of time. An end that is nil is open.
public struct Period: Sendable, Hashable {
    /// The first instant in it.
    public var from: Instant?
    /// The first instant after it.
    public var to: Instant?

    /// Makes a period; all of time unless narrowed.
    public init(from: Instant? = nil, to: Instant? = nil) {
        self.from = from
        self.to = to
    }

    /// Whether it is all of time.
    public var isAll: Bool { from == nil && to == nil }
}

/// The time of day of a place: how far it is ahead of UTC, which changes in the course of a year.
public struct TimeZoneRules: Sendable {
    /// The name, such as `Europe/Paris`.
    public let name: String
    private let secondsAhead: @Sendable (Instant) -> Int

    /// - Parameter secondsAhead: how many seconds the place is ahead of UTC at an instant.
    public init(_ name: String, secondsAhead: @escaping @Sendable (Instant) -> Int) {
        self.name = name
        self.secondsAhead = secondsAhead
    }

    /// Coordinated Universal Time.
    public static let utc = TimeZoneRules("UTC") { _ in 0 }

    /// The ticks that clocks of the place show, counted like those of an instant.
    func clockTicks(at instant: Instant) -> Int64 { instant.ticks + ahead(at: instant) }

    /// When clocks of the place show a time: the first time of two. A time that they pass over is as much later
    /// as they are then.
    func instant(clockTicks: Int64) -> Instant {
        let day = Instant.ticksPerDay
        let before = Instant(ticks: clockTicks - ahead(at: Instant(ticks: clockTicks - day)))
        let after = Instant(ticks: clockTicks - ahead(at: Instant(ticks: clockTicks + day)))
        return [before, after].first { self.clockTicks(at: $0) == clockTicks } ?? max(before, after)
    }

    private func ahead(at instant: Instant) -> Int64 {
        Int64(secondsAhead(instant)) * Instant.ticksPerSecond
    }
}
