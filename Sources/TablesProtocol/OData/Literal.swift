extension Expression {
    /// A constant. Numbers and instants keep the text they were received with.
    public enum Literal: Sendable, Hashable {
        case null
        case boolean(Bool)
        case number(NumberLiteral)
        case string(String)
        case instant(InstantLiteral)
        /// A GUID of 36 characters, in the case it was received in.
        case guid(String)
        case binary([UInt8])
        case date(DateLiteral)
        case time(TimeLiteral)
        case duration(DurationLiteral)
        case geo(GeoLiteral)
    }
}

extension Expression.Literal {
    /// The text of the id that the literal names: ids are stored as texts, even if they are numbers on the
    /// wire. Nil for a literal that is no id.
    var idText: String? {
        switch self {
        case .string(let string): string
        case .number(let number): number.integer.map(String.init) ?? number.text
        case .null, .boolean, .instant, .guid, .binary, .date, .time, .duration, .geo: nil
        }
    }
}

/// A number with the digits it was received with.
public struct NumberLiteral: Sendable, Hashable {
    /// The suffix: none, `L`, `f`, `d` or `M`.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case plain = ""
        case long = "L"
        case single = "f"
        case double = "d"
        case decimal = "M"
    }

    /// Sign and digits in JSON's form, without the suffix.
    public let text: String
    /// The suffix.
    public let kind: Kind

    /// Makes a number of text that is well formed.
    init(text: String, kind: Kind) {
        self.text = text
        self.kind = kind
    }

    public init(_ value: Int64) {
        self.init(text: String(value), kind: .plain)
    }

    /// The value, if it is an integer without fraction and exponent that fits; else nil.
    public var integer: Int64? {
        switch kind {
        case .plain, .long: Int64(text)
        case .single, .double, .decimal: nil
        }
    }

    /// The text that a client may have written for the number; nil if none counts as one.
    var writtenText: String? {
        let number = Double(text) ?? .nan
        let whole = number.rounded() == number && abs(number) < 1e15 ? Int64(number) : nil
        let written = (integer ?? whole).map { String($0) } ?? number.description
        return Self.isWritten(written) ? written : nil
    }

    /// Whether a text is wholly a number, in the one form in which a client writes it: without a plus sign, an
    /// exponent, and zeros that say nothing. At most 16 characters and 15 digits on each side of the point, so
    /// that a double holds it.
    static func isWritten(_ text: String) -> Bool {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        let parts = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.utf8.count <= 16, parts.count <= 2, text != "-0",
            parts.allSatisfy({ (1...15).contains($0.count) && $0.allSatisfy(Lexer.isDigit) }),
            parts[0].count == 1 || parts[0].first != UInt8(ascii: "0")
        else { return false }
        return parts.count == 1 || parts[1].last != UInt8(ascii: "0")
    }
}

/// The primitive types that `cast` and `isof` may name; the raw value is the name on the wire.
public enum EdmType: String, Sendable, Hashable, CaseIterable {
    case binary = "Edm.Binary"
    case boolean = "Edm.Boolean"
    case byte = "Edm.Byte"
    case date = "Edm.Date"
    case dateTime = "Edm.DateTime"
    case dateTimeOffset = "Edm.DateTimeOffset"
    case decimal = "Edm.Decimal"
    case double = "Edm.Double"
    case duration = "Edm.Duration"
    case guid = "Edm.Guid"
    case int16 = "Edm.Int16"
    case int32 = "Edm.Int32"
    case int64 = "Edm.Int64"
    case single = "Edm.Single"
    case string = "Edm.String"
    case time = "Edm.Time"
    case timeOfDay = "Edm.TimeOfDay"
}

extension Expression.Literal {
    /// The constant that `cast` makes of this one. Third generation clients write constants in this way:
    /// `cast(2024-08-23T20:22:54.291Z,Edm.DateTimeOffset)`, with or without quotes.
    ///
    /// - Returns: nil if the constant does not have the type's form.
    func cast(to type: EdmType) -> Expression.Literal? {
        switch (type, self) {
        case (.string, .number(let number)):
            return .string(number.text)
        case (.string, .boolean(let value)):
            return .string(value ? "true" : "false")
        case (.string, .guid), (.string, .instant), (.string, .date), (.string, .time):
            return text.map { .string($0) }
        case (.duration, .duration):
            return self
        case (.duration, .string(let text)):
            return DurationLiteral(text).map { .duration($0) }
        case (_, .null), (.string, .string), (.boolean, .boolean), (.binary, .binary),
            (.decimal, .number), (.double, .number), (.single, .number):
            return self
        case (.byte, .number(let number)), (.int16, .number(let number)),
            (.int32, .number(let number)), (.int64, .number(let number)):
            return number.integer == nil ? nil : self
        case (.guid, _):
            return text.flatMap { Lexer.isGUID($0.utf8) ? .guid($0) : nil }
        case (.dateTime, _), (.dateTimeOffset, _):
            let form: InstantLiteral.Form = type == .dateTime ? .dateTime : .dateTimeOffset
            return text.flatMap { Lexer.instant($0, form) }.map { .instant($0) }
        case (.date, _):
            return text.flatMap { DateLiteral($0) }.map { .date($0) }
        case (.time, _), (.timeOfDay, _):
            return text.flatMap { TimeLiteral($0) }.map { .time($0) }
        case (.string, _), (.boolean, _), (.binary, _), (.decimal, _), (.double, _), (.single, _),
            (.byte, _), (.int16, _), (.int32, _), (.int64, _), (.duration, _):
            return nil
        }
    }

    /// The text of a constant; nil for kinds without a text form.
    private var text: String? {
        switch self {
        case .string(let text), .guid(let text): text
        case .instant(let instant): instant.text
        case .date(let date): date.text
        case .time(let time): time.text
        case .null, .boolean, .number, .binary, .duration, .geo: nil
        }
    }
}

/// Hexadecimal digits.
enum Base16 {
    /// The value of one digit in either case; nil for any other byte.
    static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The bytes of pairs of digits; nil if the text is invalid.
    static func decoded(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Two upper-case digits for each byte.
    static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

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
