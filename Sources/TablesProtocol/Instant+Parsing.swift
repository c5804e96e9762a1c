extension Instant {
    /// Reads a date and time with its zone, `2013-01-01T00:00:00.0000000+00:00`: any number of
    /// fractional digits (those below 100 ns are dropped), `Z` or an offset as the zone.
    public init?(iso text: some StringProtocol) {
        var reader = DateReader(text)
        guard let value = reader.dateAndTime(needsZone: true), reader.isAtEnd else { return nil }
        self = value
    }

    /// Reads whatever SDKs and servers write for a date: the form of ``init(iso:)``, the same
    /// without zone or without time (taken as UTC), and `/Date(milliseconds±hhmm)/`.
    public init?(parsing text: some StringProtocol) {
        var reader = DateReader(text)
        let value =
            text.hasPrefix("/") ? reader.milliseconds() : reader.dateAndTime(needsZone: false)
        guard let value, reader.isAtEnd else { return nil }
        self = value
    }

    /// How far ahead of UTC the zone is that a date was written with, in minutes; 0 without a zone, nil
    /// for what ``init(parsing:)`` does not take.
    static func offsetMinutes(of text: some StringProtocol) -> Int64? {
        var reader = DateReader(text)
        let value =
            text.hasPrefix("/") ? reader.milliseconds() : reader.dateAndTime(needsZone: false)
        guard value != nil, reader.isAtEnd else { return nil }
        return reader.offset / (60 * ticksPerSecond)
    }
}

/// Reads a date from left to right.
private struct DateReader {
    private let bytes: [UInt8]
    private var position = 0
    /// How far ahead of UTC the zone is that was read, in ticks.
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

    /// `/Date(1393660800120)/`, `/Date(1393660800120+0000)/`: the offset does not shift the instant.
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
