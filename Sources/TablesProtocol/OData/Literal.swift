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

    /// Makes an integer.
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
