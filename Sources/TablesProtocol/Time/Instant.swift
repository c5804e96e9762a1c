/// A point in time: ticks of 100 ns since 0001-01-01T00:00:00Z, from there to the end of year 9999.
public struct Instant: Sendable, Hashable, Comparable {
    /// Ticks of 100 ns since 0001-01-01T00:00:00Z.
    public let ticks: Int64

    /// The first instant of year 1.
    public static let earliest = Instant(ticks: 0)
    /// The last tick of year 9999.
    public static let latest = Instant(ticks: 3_155_378_975_999_999_999)

    package static let ticksPerMillisecond: Int64 = 10_000
    package static let ticksPerSecond: Int64 = 10_000_000
    package static let ticksPerDay: Int64 = 864_000_000_000
    /// 1970-01-01T00:00:00Z in ticks.
    package static let unixEpoch: Int64 = 621_355_968_000_000_000

    /// Makes an instant of ticks, clamped to the range of years.
    public init(ticks: Int64) {
        self.ticks = min(max(ticks, 0), 3_155_378_975_999_999_999)
    }

    /// Makes an instant of milliseconds since 1970-01-01T00:00:00Z, clamped to the range of years.
    public init(milliseconds: Int64) {
        let (product, isBig) = milliseconds.multipliedReportingOverflow(
            by: Self.ticksPerMillisecond)
        let (sum, isBigger) = product.addingReportingOverflow(Self.unixEpoch)
        let nearest = milliseconds < 0 ? Self.earliest.ticks : Self.latest.ticks
        self.init(ticks: isBig || isBigger ? nearest : sum)
    }

    /// Whole milliseconds since 1970-01-01T00:00:00Z, rounded down.
    public var milliseconds: Int64 {
        (ticks / Self.ticksPerMillisecond) - Self.unixEpoch / Self.ticksPerMillisecond
    }

    /// Earlier instants come first.
    public static func < (left: Instant, right: Instant) -> Bool { left.ticks < right.ticks }
}

extension Instant {
    /// The form that every SDK parses: `2014-03-01T08:00:00.120Z`, with exactly three fractional digits
    /// (rounded down) and `Z`.
    public var text: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        appendText(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// `2014-03-01T08:00:00.1200000Z`: a text of one length, so that texts are in the order of their instants.
    package var sortedText: String {
        let below = String(ticks % Self.ticksPerMillisecond)
        return text.dropLast() + String(repeating: "0", count: 4 - below.count) + below + "Z"
    }

    /// Appends ``text`` as bytes, by writing the digits into a template.
    func appendText(to bytes: inout [UInt8]) {
        let calendar = Calendar(dayNumber: Int(ticks / Self.ticksPerDay))
        let milliseconds = UInt32(ticks % Self.ticksPerDay / Self.ticksPerMillisecond)
        let start = bytes.count
        bytes += Self.form
        var digits = bytes.mutableSpan
        Self.writeTwoDigits(UInt32(calendar.year) / 100, at: start, in: &digits)
        Self.writeTwoDigits(UInt32(calendar.year) % 100, at: start + 2, in: &digits)
        Self.writeTwoDigits(UInt32(calendar.month), at: start + 5, in: &digits)
        Self.writeTwoDigits(UInt32(calendar.day), at: start + 8, in: &digits)
        Self.writeTwoDigits(milliseconds / 3_600_000, at: start + 11, in: &digits)
        Self.writeTwoDigits(milliseconds / 60_000 % 60, at: start + 14, in: &digits)
        Self.writeTwoDigits(milliseconds / 1000 % 60, at: start + 17, in: &digits)
        Self.writeTwoDigits(milliseconds % 1000 / 10, at: start + 20, in: &digits)
        digits[start + 22] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: milliseconds % 10)
    }

    private static let form = Array("0000-00-00T00:00:00.000Z".utf8)

    private static func writeTwoDigits(
        _ value: UInt32, at index: Int, in digits: inout MutableSpan<UInt8>
    ) {
        digits[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 10)
        digits[index + 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10)
    }

    /// The form of `Last-Modified`: `Sat, 01 Mar 2014 08:00:00 GMT`, in whole seconds, rounded down.
    public var httpDate: String {
        let calendar = calendar
        // 0001-01-01 was a Monday.
        let weekday = Self.weekdays[Int(ticks / Self.ticksPerDay) % 7]
        let month = Self.months[calendar.month - 1]
        let text = text
        let day = text.dropFirst(8).prefix(2)
        let time = text.dropFirst(11).prefix(8)
        return "\(weekday), \(day) \(month) \(text.prefix(4)) \(time) GMT"
    }

    static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Parses a date of a header field in the three forms of HTTP (RFC 9110, section 5.6.7): `Sat, 01 Mar
    /// 2014 08:00:00 GMT`, `Saturday, 01-Mar-14 08:00:00 GMT` and `Sat Mar  1 08:00:00 2014`. The name of
    /// the day is ignored.
    public init?(httpDate text: String) {
        let words = text.split(whereSeparator: { " ,-".contains($0) })
        guard words.count == 6 || words.count == 5 else { return nil }
        let parts: (day: Substring, month: Substring, year: Substring, time: Substring)
        if words.count == 6 {
            guard words[5] == "GMT" || words[5] == "UTC" else { return nil }
            parts = (words[1], words[2], words[3], words[4])
        } else {
            parts = (words[2], words[1], words[4], words[3])
        }
        guard let month = Self.months.firstIndex(where: { $0 == parts.month }) else { return nil }
        let year =
            parts.year.count == 2 ? (parts.year < "50" ? "20" : "19") + parts.year : parts.year
        let number = Self.twoDigits("\(month + 1)")
        self.init(iso: "\(year)-\(number)-\(Self.twoDigits(parts.day))T\(parts.time)Z")
    }

    private static func twoDigits(_ text: some StringProtocol) -> String {
        text.count == 1 ? "0\(text)" : String(text)
    }

    /// Parses a date and time with its zone, `2013-01-01T00:00:00.0000000+00:00`: any number of fractional
    /// digits (those below 100 ns are dropped), and `Z` or an offset.
    public init?(iso text: some StringProtocol) {
        var reader = DateReader(text)
        guard let value = reader.dateAndTime(needsZone: true), reader.isAtEnd else { return nil }
        self = value
    }

    /// Parses every form of date that SDKs and servers write: ``init(iso:)``, the same without zone or time
    /// (UTC), and `/Date(milliseconds±hhmm)/`.
    public init?(parsing text: some StringProtocol) {
        var reader = DateReader(text)
        let value =
            text.hasPrefix("/") ? reader.milliseconds() : reader.dateAndTime(needsZone: false)
        guard let value, reader.isAtEnd else { return nil }
        self = value
    }

    /// The offset from UTC, in minutes, with which a date was written; 0 without a zone, nil if
    /// ``init(parsing:)`` does not accept the text.
    static func offsetMinutes(of text: some StringProtocol) -> Int64? {
        var reader = DateReader(text)
        let value =
            text.hasPrefix("/") ? reader.milliseconds() : reader.dateAndTime(needsZone: false)
        guard value != nil, reader.isAtEnd else { return nil }
        return reader.offset / (60 * ticksPerSecond)
    }

    /// The digits of a date's fraction of a second below 100 ns, without zeros at their end. No instant has
    /// them.
    static func digitsBelowTick(of text: String) -> String {
        let fraction = text.utf8.drop { $0 != UInt8(ascii: ".") }.dropFirst()
        let digits = Array(
            fraction.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.dropFirst(7))
        let end = digits.lastIndex { $0 != UInt8(ascii: "0") }.map { $0 + 1 } ?? 0
        return String(decoding: digits[..<end], as: UTF8.self)
    }
}

/// Parses a date from left to right.
private struct DateReader {
    private let bytes: [UInt8]
    private var position = 0
    /// The offset from UTC of the parsed zone, in ticks.
    private(set) var offset: Int64 = 0

    init(_ text: some StringProtocol) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { position == bytes.count }

    mutating func dateAndTime(needsZone: Bool) -> Instant? {
        guard let year = digits(4), take("-"), let month = digits(2), take("-"),
            let day = digits(2)
        else { return nil }
        guard let number = Calendar(year: year, month: month, day: day).dayNumber else {
            return nil
        }
        let midnight = Int64(number) * Instant.ticksPerDay
        if isAtEnd { return needsZone ? nil : Instant(ticks: midnight) }
        guard take("T") || take("t") || (!needsZone && take(" ")), let time = time() else {
            return nil
        }
        if isAtEnd { return needsZone ? nil : Instant(ticks: midnight + time) }
        guard let offset = zone() else { return nil }
        let ticks = midnight + time - offset
        guard (Instant.earliest.ticks...Instant.latest.ticks).contains(ticks) else { return nil }
        return Instant(ticks: ticks)
    }

    /// `/Date(1393660800120)/` or `/Date(1393660800120+0000)/`. The offset does not change the instant.
    mutating func milliseconds() -> Instant? {
        guard "/Date(".allSatisfy({ take($0) }) else { return nil }
        let sign: Int64 = take("-") ? -1 : 1
        let start = position
        var value: Int64 = 0
        while let digit = digits(1) {
            value = value * 10 + Int64(digit)
            if position - start > 15 { return nil }
        }
        guard position > start else { return nil }
        if !take(")"), zone() == nil || !take(")") { return nil }
        return take("/") ? Instant(milliseconds: sign * value) : nil
    }

    private mutating func time() -> Int64? {
        guard let hour = digits(2), hour < 24, take(":"), let minute = digits(2), minute < 60
        else { return nil }
        var second = 0
        var fraction: Int64 = 0
        if take(":") {
            guard let value = digits(2), value < 60 else { return nil }
            second = value
            if take(".") {
                guard let value = self.fraction() else { return nil }
                fraction = value
            }
        }
        return Int64(hour * 3600 + minute * 60 + second) * Instant.ticksPerSecond + fraction
    }

    private mutating func fraction() -> Int64? {
        var value: Int64 = 0
        var scale = Instant.ticksPerSecond
        let start = position
        while let digit = digits(1) {
            scale /= 10
            value += Int64(digit) * scale
        }
        return position > start ? value : nil
    }

    private mutating func zone() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let sign: Int64
        if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
        guard let hours = digits(2), hours <= 14 else { return nil }
        var minutes = 0
        if take(":") || (position < bytes.count && Self.isDigit(bytes[position])) {
            guard let value = digits(2), value < 60 else { return nil }
            minutes = value
        }
        offset = sign * Int64(hours * 60 + minutes) * 60 * Instant.ticksPerSecond
        return offset
    }

    private mutating func digits(_ count: Int) -> Int? {
        guard position + count <= bytes.count else { return nil }
        var value = 0
        for byte in bytes[position..<position + count] {
            guard Self.isDigit(byte) else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        position += count
        return value
    }

    private mutating func take(_ character: Character) -> Bool {
        guard position < bytes.count, bytes[position] == character.asciiValue else { return false }
        position += 1
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

/// A date of the proleptic Gregorian calendar and a time of day in UTC.
struct Calendar: Hashable {
    var year: Int
    var month: Int
    var day: Int
    var hour = 0
    var minute = 0
    var second = 0

    /// The days from 0001-01-01 to the date; nil if there is no such date in years 1 to 9999.
    var dayNumber: Int? {
        guard (1...9999).contains(year), (1...12).contains(month),
            (1...Self.days(inMonth: month, of: year)).contains(day)
        else { return nil }
        // Years begin in March here, so that the leap day is the last day of a year.
        let shifted = month > 2 ? year : year - 1
        let era = shifted / 400
        let ofEra = shifted - era * 400
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 306
    }

    /// The date `dayNumber` days after 0001-01-01, at midnight.
    init(dayNumber: Int) {
        let number = UInt32(clamping: dayNumber) + 306
        let era = number / 146_097
        let ofEra = number % 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * ofYear + 2) / 153
        day = Int(ofYear - (153 * shifted + 2) / 5 + 1)
        month = Int(shifted < 10 ? shifted + 3 : shifted - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
    }

    init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    private static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Instant {
    /// The date and time of day in UTC.
    var calendar: Calendar {
        var calendar = Calendar(dayNumber: Int(ticks / Self.ticksPerDay))
        let seconds = Int(ticks % Self.ticksPerDay / Self.ticksPerSecond)
        calendar.hour = seconds / 3600
        calendar.minute = seconds / 60 % 60
        calendar.second = seconds % 60
        return calendar
    }
}

extension Duration {
    /// The duration in whole milliseconds; a part of one is left out.
    public var wholeMilliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
