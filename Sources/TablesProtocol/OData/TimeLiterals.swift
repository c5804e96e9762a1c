/// A date and time, with exactly the text it was received in.
public struct InstantLiteral: Sendable, Hashable {
    /// The prefix in OData v3; v4 has only one form.
    public enum Form: String, Sendable, Hashable, CaseIterable {
        case dateTime = "datetime"
        case dateTimeOffset = "datetimeoffset"
    }

    /// The text, with all its fractional digits and its own offset.
    public let text: String
    /// The prefix in v3.
    public let form: Form
    /// The instant of the text, to 100 ns. A text without a zone is UTC.
    public let instant: Instant

    /// Parses a date that a server or a client wrote; nil for other texts.
    public init?(_ text: String, form: Form = .dateTimeOffset) {
        guard !text.hasPrefix("/"), let instant = Instant(parsing: text) else { return nil }
        self.text = text
        self.form = form
        self.instant = instant
    }

    /// Makes a literal of an instant, with seven fractional digits.
    public init(_ instant: Instant, form: Form = .dateTimeOffset) {
        let fraction = String(instant.ticks % Instant.ticksPerSecond)
        let zeros = String(repeating: "0", count: 7 - fraction.utf8.count)
        text = "\(instant.text.prefix(19)).\(zeros)\(fraction)Z"
        self.form = form
        self.instant = instant
    }

    /// The first whole millisecond that is later than every instant which a server may print as this text: it
    /// may leave out digits.
    public var following: InstantLiteral {
        let fraction = text.drop { $0 != "." }.dropFirst().prefix { $0.isNumber }.utf8.count
        let unit =
            switch fraction {
            case 0: Instant.ticksPerSecond
            case 1: Instant.ticksPerSecond / 10
            case 2: Instant.ticksPerSecond / 100
            default: Instant.ticksPerMillisecond
            }
        let later = Instant(ticks: (instant.ticks / unit + 1) * unit)
        return InstantLiteral(later.text, form: form) ?? InstantLiteral(later, form: form)
    }
}

/// A date without time (`Edm.Date`), `2023-12-15`.
public struct DateLiteral: Sendable, Hashable {
    /// The text, ten characters.
    public let text: String
    /// Its midnight in UTC.
    public let instant: Instant

    /// Parses a date; nil if there is no such date.
    public init?(_ text: String) {
        guard text.utf8.count == 10, !text.hasPrefix("/"), let instant = Instant(parsing: text)
        else { return nil }
        self.text = text
        self.instant = instant
    }
}

/// A time of day (`Edm.TimeOfDay` in v4, `Edm.Time` in v3).
public struct TimeLiteral: Sendable, Hashable {
    /// The text, `09:52:35.321`.
    public let text: String
    /// Ticks of 100 ns since midnight.
    public let ticks: Int64

    /// Parses `HH:MM[:SS[.fraction]]`, or v3's duration `PT9H52M35.321S`; nil if it is not a time of day.
    public init?(_ text: String) {
        let clock = text.hasPrefix("PT") ? Self.clock(ofDuration: text.dropFirst(2)) : text
        guard let clock, clock.utf8.first != UInt8(ascii: "/"),
            let instant = Instant(iso: "0001-01-01T\(clock)Z")
        else { return nil }
        self.text = clock
        ticks = instant.ticks
    }

    /// `9H52M35.321S` as `09:52:35.321`.
    private static func clock(ofDuration text: Substring) -> String? {
        var fields = ["00", "00", "00"]
        var rest = text
        for (index, unit) in ["H", "M", "S"].enumerated() {
            guard let end = rest.firstIndex(of: Character(unit)) else { continue }
            let digits = rest[..<end]
            guard let first = digits.utf8.first, UInt8(ascii: "0")...UInt8(ascii: "9") ~= first
            else { return nil }
            let whole = digits.prefix { $0 != "." }
            fields[index] = whole.utf8.count == 1 ? "0\(digits)" : String(digits)
            rest = rest[end...].dropFirst()
        }
        return rest.isEmpty && text.utf8.count > 1 ? fields.joined(separator: ":") : nil
    }
}

/// A duration (`Edm.Duration`), `P1DT2H30M4.5S`.
public struct DurationLiteral: Sendable, Hashable {
    /// The text, with its sign.
    public let text: String
    /// Ticks of 100 ns; negative for a negative duration.
    public let ticks: Int64

    /// Parses days, hours, minutes and seconds in the form of ISO 8601; nil for other texts, also for years
    /// and months, whose length is not fixed.
    public init?(_ text: String) {
        var rest = text.utf8[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
        guard rest.popFirst() == UInt8(ascii: "P") else { return nil }
        var parts = Self.parts(&rest, [("D", Instant.ticksPerDay)])
        if rest.first == UInt8(ascii: "T") {
            rest.removeFirst()
            let second = Instant.ticksPerSecond
            let times = Self.parts(
                &rest, [("H", 3600 * second), ("M", 60 * second), ("S", second)])
            if times.isEmpty { return nil }
            parts += times
        }
        guard rest.isEmpty, !parts.isEmpty else { return nil }
        var sum: Int64 = 0
        for part in parts {
            let (next, isTooLong) = sum.addingReportingOverflow(part)
            if isTooLong { return nil }
            sum = next
        }
        self.text = text
        ticks = isNegative ? -sum : sum
    }

    /// Makes a duration with its shortest text.
    public init(ticks: Int64) {
        let second = Instant.ticksPerSecond
        let size = ticks.magnitude
        let days = size / UInt64(Instant.ticksPerDay)
        var rest = size % UInt64(Instant.ticksPerDay)
        var text = ticks < 0 ? "-P" : "P"
        if days > 0 { text += "\(days)D" }
        if rest > 0 || days == 0 { text += "T" }
        for (unit, length) in [("H", 3600 * second), ("M", 60 * second)] {
            let count = rest / UInt64(length)
            if count > 0 { text += "\(count)\(unit)" }
            rest %= UInt64(length)
        }
        if rest > 0 || size == 0 {
            let ticks = String(rest % UInt64(second))
            let zeros = String(repeating: "0", count: 7 - ticks.utf8.count)
            let isWhole = rest.isMultiple(of: UInt64(second))
            text += "\(rest / UInt64(second))\(isWhole ? "" : ".\(zeros)\(ticks)")S"
        }
        self.text = text
        self.ticks = ticks
    }

    /// The numbers at the beginning of a text with these units, in ticks. Units come in their order, each
    /// at most once. Only seconds may have a fraction.
    private static func parts(
        _ text: inout Substring.UTF8View, _ units: [(Character, Int64)]
    ) -> [Int64] {
        var parts: [Int64] = []
        for (unit, length) in units {
            let digits = text.prefix(while: Lexer.isDigit)
            var after = text.dropFirst(digits.count)
            var fraction: Int64 = 0
            if unit == "S", after.first == UInt8(ascii: ".") {
                let decimals = after.dropFirst().prefix(while: Lexer.isDigit)
                if decimals.isEmpty { continue }
                let seven = (String(Substring(decimals)) + "0000000").prefix(7)
                fraction = Int64(seven) ?? 0
                after = after.dropFirst(decimals.count + 1)
            }
            guard after.first == unit.asciiValue, let number = Int64(String(Substring(digits)))
            else { continue }
            let (ticks, isTooLong) = number.multipliedReportingOverflow(by: length)
            let (sum, isLonger) = ticks.addingReportingOverflow(fraction)
            if isTooLong || isLonger { return [] }
            parts.append(sum)
            text = after.dropFirst()
        }
        return parts
    }
}
