/// Reads how a person names a time: `yesterday`, `last Tuesday`, `2026-11-24 14:30`, `7d`. Small and capital
/// letters are the same.
public struct PeriodWords: Sendable {
    private let now: Instant
    private let zone: TimeZoneRules

    /// Words are counted from `now`, and days are those of `zone`.
    public init(now: Instant, zone: TimeZoneRules) { (self.now, self.zone) = (now, zone) }

    /// Why words name no time.
    public struct Misunderstood: Error, Sendable, Hashable {
        /// What a person can write instead, without the name of the field.
        public let sentence: String
    }

    /// What is understood, for a sentence.
    public static let understood = """
        Understood are today, yesterday, last Tuesday (or another weekday), 2026-11-24, 2026-11-24 14:30, \
        2026-11-24T13:30:00Z, and 7d, 12h or 30m for the last days, hours or minutes.
        """
    private static let shownCharacters = 60

    public func period(_ text: String) throws(Misunderstood) -> Period {
        let word = text.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
        if let found = day(word) ?? time(word) ?? last(word) { return found }
        let shown = text.prefix(Self.shownCharacters)
        throw Misunderstood(sentence: "is not understood: \"\(shown)\". \(Self.understood)")
    }

    /// The first instant after what the words name: after the day of `yesterday`, but 7 days ago for `7d`.
    public func end(_ text: String) throws(Misunderstood) -> Instant? {
        let found = try period(text)
        return found.to ?? found.from
    }

    private func day(_ word: String) -> Period? {
        // Days are counted from 0001-01-01, which was a Monday.
        let today = Int(zone.clockTicks(at: now) / Instant.ticksPerDay)
        var day = ["today": today, "yesterday": today - 1][word]
        if word.hasPrefix("last "), word.count >= "last mon".count {
            let weekday = Self.weekdays.firstIndex { $0.hasPrefix(word.dropFirst("last ".count)) }
            day = weekday.map { today - 1 - (today - 1 - $0) % 7 }
        } else if word.utf8.count == 10, let midnight = Instant(parsing: word) {
            day = Int(midnight.ticks / Instant.ticksPerDay)
        }
        guard let day, day >= 0, Int64(day) < Instant.latest.ticks / Instant.ticksPerDay else {
            return nil
        }
        let ends = [day, day + 1].map { zone.instant(clockTicks: Int64($0) * Instant.ticksPerDay) }
        return Period(from: ends[0], to: ends[1])
    }

    private static let weekdays = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]

    /// A time with its zone: one tick. Without one it is the place's: a minute, or a second where it has one.
    private func time(_ word: String) -> Period? {
        let instant = Instant(iso: word.uppercased())
        let local = word.first == "/" ? nil : Instant(parsing: word.uppercased())
        guard word.utf8.count > 10,
            let from = instant ?? local.map({ zone.instant(clockTicks: $0.ticks) })
        else { return nil }
        let seconds: Int64 = word.utf8.count == 16 ? 60 : 1
        let length = instant == nil ? seconds * Instant.ticksPerSecond : 1
        return Period(from: from, to: Instant(ticks: from.ticks + length))
    }

    /// The last days of 24 hours, hours or minutes, until now: `7d`, `12h`, `30m`.
    private func last(_ word: String) -> Period? {
        let seconds: [Character: Int64] = ["d": 86_400, "h": 3600, "m": 60]
        guard word.utf8.count <= 7, let unit = word.last.flatMap({ seconds[$0] }),
            let count = UInt32(word.dropLast()), word.first?.isNumber == true
        else { return nil }
        return Period(
            from: Instant(ticks: now.ticks - Int64(count) * unit * Instant.ticksPerSecond))
    }
}

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
