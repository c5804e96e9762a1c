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
    }
}

extension Expression.Literal {
    /// The text of the id that the literal names: ids are stored as texts, even if they are numbers on the
    /// wire. Nil for a literal that is no id.
    package var idText: String? {
        switch self {
        case .string(let string): string
        case .number(let number): number.integer.map(String.init) ?? number.text
        case .null, .boolean, .instant, .guid, .binary, .date, .time: nil
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
    package var writtenText: String? {
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

/// The types that clients name in `cast`; the raw value is the name on the wire.
enum EdmType: String {
    case date = "Edm.Date"
    case dateTime = "Edm.DateTime"
    case dateTimeOffset = "Edm.DateTimeOffset"
    case guid = "Edm.Guid"
    case timeOfDay = "Edm.TimeOfDay"
}

extension Expression.Literal {
    /// The constant that `cast` makes of this one. Third generation clients write constants in this way:
    /// `cast(2024-08-23T20:22:54.291Z,Edm.DateTimeOffset)`, with or without quotes.
    ///
    /// - Returns: nil if the constant does not have the type's form.
    func cast(to type: EdmType) -> Expression.Literal? {
        if self == .null { return .null }
        guard let text else { return nil }
        switch type {
        case .guid: return Lexer.isGUID(text.utf8) ? .guid(text) : nil
        case .dateTime: return Lexer.instant(text, .dateTime).map { .instant($0) }
        case .dateTimeOffset: return Lexer.instant(text, .dateTimeOffset).map { .instant($0) }
        case .date: return DateLiteral(text).map { .date($0) }
        case .timeOfDay: return TimeLiteral(text).map { .time($0) }
        }
    }

    /// The text of a constant; nil for kinds without a text form.
    private var text: String? {
        switch self {
        case .string(let text), .guid(let text): text
        case .instant(let instant): instant.text
        case .date(let date): date.text
        case .time(let time): time.text
        case .null, .boolean, .number, .binary: nil
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

/// A time of day (`Edm.TimeOfDay`).
public struct TimeLiteral: Sendable, Hashable {
    /// The text, `09:52:35.321`.
    public let text: String
    /// Ticks of 100 ns since midnight.
    public let ticks: Int64

    /// Parses `HH:MM[:SS[.fraction]]`; nil if it is not a time of day.
    public init?(_ text: String) {
        guard text.utf8.first != UInt8(ascii: "/"),
            let instant = Instant(iso: "0001-01-01T\(text)Z")
        else { return nil }
        self.text = text
        ticks = instant.ticks
    }
}
