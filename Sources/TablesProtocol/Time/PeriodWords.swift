/// Reads the words with which a person names a time: `last Tuesday`, `3 Nov to 5 Nov`, `since yesterday 14:30`.
///
/// Small and capital letters are the same. A day without a year, and a weekday, is the latest one that is not
/// in the future. Weeks begin on Monday. Both ends of a range are in it.
public struct PeriodWords: Sendable {
    private let now: Instant
    private let zone: TimeZoneRules
    /// The day of `now`, counted from 0001-01-01, which was a Monday.
    private let today: Int

    /// - Parameters:
    ///   - now: what `today` is counted from.
    ///   - zone: where days begin and end.
    public init(now: Instant, zone: TimeZoneRules) {
        self.now = now
        self.zone = zone
        today = Int(zone.clockTicks(at: now) / Instant.ticksPerDay)
    }

    /// Why words name no time.
    public struct Misunderstood: Error, Sendable, Hashable {
        /// What a person can write instead, without the name of the field.
        public let sentence: String

        fileprivate static func unknown(_ text: String) -> Misunderstood {
            Misunderstood(
                sentence:
                    "is not understood: \"\(text.prefix(PeriodWords.shownCharacters))\". \(understood)"
            )
        }
    }

    /// What is understood, for a sentence.
    public static let understood = """
        Understood are days (today, yesterday, Tuesday, last Tuesday, 3 days ago, 24 Nov, 2026-11-24), longer \
        times (this week, last month, November 2026, last 2 hours), a day with a time of day \
        (yesterday 14:30), and ranges (20 Nov to 24 Nov, since Monday, until yesterday, before 2026-11-01).
        """
    private static let shownCharacters = 60

    public func period(_ text: String) throws(Misunderstood) -> Period {
        let words = Self.words(text)
        guard let found = range(words) ?? stretch(words[...])?.period else { throw .unknown(text) }
        if let from = found.from, let to = found.to, to <= from {
            throw Misunderstood(
                sentence: "ends before it begins: \"\(text.prefix(Self.shownCharacters))\".")
        }
        return found
    }

    /// When what the words name begins.
    public func beginning(_ text: String) throws(Misunderstood) -> Instant {
        guard let found = stretch(Self.words(text)[...]) else { throw .unknown(text) }
        return found.from
    }

    /// When what the words name is over.
    public func end(_ text: String) throws(Misunderstood) -> Instant {
        guard let found = stretch(Self.words(text)[...]) else { throw .unknown(text) }
        return found.to
    }

    private static func words(_ text: String) -> [Substring] {
        text.lowercased().split { $0.isWhitespace || $0 == "," }
    }
}

// Ranges.
extension PeriodWords {
    private func range(_ words: [Substring]) -> Period? {
        guard let first = words.first else { return nil }
        let rest = words.dropFirst()
        switch first {
        case "since": return stretch(rest).map { Period(from: $0.from) }
        case "after": return stretch(rest).map { Period(from: $0.to) }
        case "until", "till": return stretch(rest).map { Period(to: $0.to) }
        case "before": return stretch(rest).map { Period(to: $0.from) }
        case "between": return ends(rest, separators: ["and"])
        case "from":
            return ends(rest, separators: Self.separators)
                ?? stretch(rest).map { Period(from: $0.from) }
        case _: return ends(words[...], separators: Self.separators)
        }
    }

    private static let separators: Set<Substring> = ["to", "until", "till", "-", "–", "—", "..."]

    private func ends(_ words: ArraySlice<Substring>, separators: Set<Substring>) -> Period? {
        guard let middle = words.firstIndex(where: separators.contains),
            let first = stretch(words[..<middle])
        else { return nil }
        // "yesterday 14:00 to 16:00": the end is on the same day.
        let rest = words[(middle + 1)...]
        let last = rest.count == 1 ? moment(rest.first ?? "", on: first.day) : nil
        return (last ?? stretch(rest)).map { Period(from: first.from, to: $0.to) }
    }
}

// One stretch: a day, a longer time, or a minute of a day.
extension PeriodWords {
    private struct Stretch {
        let from: Instant
        let to: Instant
        let day: Int
        /// Whether it reaches to the present, and so has no end.
        var reachesNow = false

        var period: Period { Period(from: from, to: reachesNow ? nil : to) }
    }

    private func stretch(_ words: ArraySlice<Substring>) -> Stretch? {
        guard let first = words.first, let last = words.last else { return nil }
        let words = Array(words)
        if words.count == 1, let instant = instant(first) { return instant }
        if let found = day(words) { return days(found, 1) }
        if let found = longer(words) { return found }
        if words.count == 1 { return moment(first, on: today) }
        return day(Array(words.dropLast())).flatMap { moment(last, on: $0) }
    }

    private func days(_ first: Int, _ count: Int) -> Stretch? {
        guard first >= 0, first + count <= Self.lastDay else { return nil }
        return Stretch(
            from: beginning(ofDay: first), to: beginning(ofDay: first + count), day: first)
    }

    private static let lastDay = Int(Instant.latest.ticks / Instant.ticksPerDay)

    private func beginning(ofDay day: Int) -> Instant {
        zone.instant(clockTicks: Int64(day) * Instant.ticksPerDay)
    }

    /// A time with its zone, such as 2026-11-24T14:30:00Z: one tick.
    private func instant(_ word: Substring) -> Stretch? {
        guard let instant = Instant(iso: word.uppercased()) else { return nil }
        return Stretch(
            from: instant, to: Instant(ticks: instant.ticks + 1),
            day: Int(zone.clockTicks(at: instant) / Instant.ticksPerDay))
    }

    /// The minute of a day that `14:30` names, or the second of `14:30:05`.
    private func moment(_ word: Substring, on day: Int) -> Stretch? {
        let parts = word.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Self.number($0, 0...59) }
        guard parts.count == numbers.count, 2...3 ~= numbers.count, numbers[0] < 24 else {
            return nil
        }
        let seconds = numbers[0] * 3600 + numbers[1] * 60 + (numbers.count == 3 ? numbers[2] : 0)
        let ticks = Int64(day) * Instant.ticksPerDay + Int64(seconds) * Instant.ticksPerSecond
        let length = (numbers.count == 3 ? 1 : 60) * Instant.ticksPerSecond
        let from = zone.instant(clockTicks: ticks)
        return Stretch(from: from, to: Instant(ticks: from.ticks + length), day: day)
    }

    /// The day that words name; nil if they name none.
    private func day(_ words: [Substring]) -> Int? {
        switch words.count {
        case 1:
            switch words[0] {
            case "today": return today
            case "yesterday": return today - 1
            case _: return weekday(words[0], before: today + 1) ?? date(words[0])
            }
        case 2 where words[0] == "last": return weekday(words[1], before: today)
        case 2: return monthDay(words[0], words[1], year: nil)
        case 3 where words[2] == "ago":
            guard let count = Self.number(words[0], 0...Self.lastDay) else { return nil }
            return switch words[1] {
            case "day", "days": today - count
            case "week", "weeks": today - 7 * count
            case _: nil
            }
        case 3:
            return Self.number(words[2], 1...9999).flatMap {
                monthDay(words[0], words[1], year: $0)
            }
        case _: return nil
        }
    }

    private func weekday(_ word: Substring, before day: Int) -> Int? {
        guard let weekday = Self.place(of: word, in: Self.weekdays) else { return nil }
        let latest = day - 1
        return latest - (latest - weekday) % 7
    }

    /// `2026-11-24` and `24.11.2026`.
    private func date(_ word: Substring) -> Int? {
        if word.contains(".") {
            let parts = word.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[2].count == 4, let day = Self.number(parts[0], 1...31),
                let month = Self.number(parts[1], 1...12),
                let year = Self.number(parts[2], 1...9999)
            else { return nil }
            return Calendar(year: year, month: month, day: day).dayNumber
        }
        guard word.utf8.count == 10, let midnight = Instant(parsing: word) else { return nil }
        return Int(midnight.ticks / Instant.ticksPerDay)
    }

    /// `24 Nov` and `Nov 24`, in a year or in the latest year in which the day is not in the future.
    private func monthDay(_ one: Substring, _ other: Substring, year: Int?) -> Int? {
        let (dayWord, monthWord) = one.first?.isNumber ?? false ? (one, other) : (other, one)
        let digits = dayWord.hasSuffix(".") ? dayWord.dropLast() : dayWord
        guard let day = Self.number(digits, 1...31),
            let month = Self.place(of: monthWord, in: Self.months)
        else { return nil }
        func number(_ year: Int) -> Int? {
            Calendar(year: year, month: month + 1, day: day).dayNumber
        }
        if let year { return number(year) }
        // A 29 February is at most eight years back.
        let present = Calendar(dayNumber: today).year
        return (max(present - 8, 1)...present).reversed().compactMap(number).first { $0 <= today }
    }

    /// A week, a month, a year, or the last hours, days and weeks.
    private func longer(_ words: [Substring]) -> Stretch? {
        let present = Calendar(dayNumber: today)
        if words.count == 1 || words.count == 2,
            let month = Self.place(of: words[0], in: Self.months)
        {
            let hasBegun = month < present.month
            let latest = hasBegun ? present.year : present.year - 1
            let year = words.count == 2 ? Self.number(words[1], 1...9999) : latest
            return year.flatMap { self.month(month + 1, of: $0) }
        }
        if words.count == 1, words[0].utf8.count == 7 {
            let parts = words[0].split(separator: "-")
            guard parts.count == 2, let year = Self.number(parts[0], 1...9999),
                let month = Self.number(parts[1], 1...12)
            else { return nil }
            return self.month(month, of: year)
        }
        switch words.count {
        case 2 where words[0] == "this" || words[0] == "last":
            let back = words[0] == "last" ? 1 : 0
            switch words[1] {
            case "week": return days(today - today % 7 - 7 * back, 7)
            case "month":
                let isJanuary = present.month == 1 && back == 1
                return month(
                    isJanuary ? 12 : present.month - back,
                    of: isJanuary ? present.year - 1 : present.year)
            case "year":
                return year(present.year - back)
            case _: return nil
            }
        case 3 where words[0] == "last":
            return Self.number(words[1], 1...Self.lastDay).flatMap { last($0, words[2]) }
        case _: return nil
        }
    }

    /// The last minutes and hours are counted from now. The last days and weeks are whole days, of which today
    /// is the last one.
    private func last(_ count: Int, _ unit: Substring) -> Stretch? {
        let days: Int
        let seconds: Int
        switch unit {
        case "minute", "minutes": (days, seconds) = (0, 60)
        case "hour", "hours": (days, seconds) = (0, 3600)
        case "day", "days": (days, seconds) = (count, 0)
        case "week", "weeks": (days, seconds) = (7 * count, 0)
        case _: return nil
        }
        if days > 0 {
            guard var found = self.days(today - days + 1, days) else { return nil }
            found.reachesNow = true
            return found
        }
        let from = Instant(ticks: now.ticks - Int64(count * seconds) * Instant.ticksPerSecond)
        return Stretch(
            from: from, to: Instant(ticks: now.ticks + 1),
            day: Int(zone.clockTicks(at: from) / Instant.ticksPerDay), reachesNow: true)
    }

    private func month(_ month: Int, of year: Int) -> Stretch? {
        let next = month == 12 ? (year + 1, 1) : (year, month + 1)
        guard let first = Calendar(year: year, month: month, day: 1).dayNumber,
            let after = Calendar(year: next.0, month: next.1, day: 1).dayNumber
        else { return nil }
        return days(first, after - first)
    }

    private func year(_ year: Int) -> Stretch? {
        guard let first = Calendar(year: year, month: 1, day: 1).dayNumber,
            let after = Calendar(year: year + 1, month: 1, day: 1).dayNumber
        else { return nil }
        return days(first, after - first)
    }

    private static let weekdays = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]
    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september",
        "october", "november", "december",
    ]
    /// Letters of the shortest form of a name: `tue`, `nov`.
    private static let shortestName = 3

    /// The place of the name that a word is, or is the beginning of.
    private static func place(of word: Substring, in names: [String]) -> Int? {
        let word = word.hasSuffix(".") ? word.dropLast() : word
        guard word.count >= shortestName else { return nil }
        return names.firstIndex { $0.hasPrefix(word) }
    }

    private static func number(_ digits: Substring, _ range: ClosedRange<Int>) -> Int? {
        guard digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
            let number = Int(digits), range.contains(number)
        else { return nil }
        return number
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
