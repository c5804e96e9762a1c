/// A JSON value as a tree, for code that reads inside it. Rows are passed on as ``JSONText``.
public indirect enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    /// The members in the order received.
    case object([Member])

    public struct Member: Sendable, Hashable {
        /// The name with escapes resolved.
        public var name: String
        public var value: JSONValue

        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The value of the member with this name; nil if there is none or the value is not an object.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name.hasSameBytes(as: name) }?.value
    }

    /// The text of a string; nil for any other value.
    public var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The value of an integer that fits; nil for any other value.
    public var integer: Int64? {
        if case .number(let number) = self { number.integer } else { nil }
    }

    /// The value of a boolean; nil for any other value.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The elements of an array; nil for any other value.
    public var array: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
}

extension JSONValue {
    /// Parses one JSON value.
    /// - Throws: ``JSONError`` with the byte position, also for a name that appears twice in one object and
    ///   for half a surrogate pair.
    public init(parsing text: String) throws(JSONError) {
        self = try JSONValue(parsing: Array(text.utf8))
    }

    /// Parses the bytes of one JSON value.
    /// - Throws: ``JSONError`` as ``init(parsing:)-(String)`` does, and if the bytes are not UTF-8.
    public init(parsing bytes: [UInt8]) throws(JSONError) {
        self = try JSONValue(parsing: bytes, names: .areUnique)
    }

    /// Whether a name may appear more than once in an object.
    package enum Names { case areUnique, mayRepeat }

    /// Parses the bytes of one JSON value, with names that repeat if they may.
    /// - Parameter maxDepth: the deepest nesting, in levels.
    package init(
        parsing bytes: [UInt8], names: Names = .areUnique, maxDepth: Int = Limits.jsonDepth
    ) throws(JSONError) {
        var parser = Parser(names: names, maxDepth: maxDepth)
        try parser.scanner.start(bytes.span)
        self = try parser.value(bytes)
        try parser.scanner.expectEnd(bytes.span)
    }

    private struct Parser {
        let names: Names
        var scanner: JSONScanner

        init(names: Names, maxDepth: Int) {
            self.names = names
            scanner = JSONScanner(maxDepth: maxDepth)
        }

        mutating func value(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
            scanner.skipSpace(bytes.span)
            switch try scanner.peek(bytes.span) {
            case UInt8(ascii: "{"): return try object(bytes)
            case UInt8(ascii: "["): return try array(bytes)
            case UInt8(ascii: "\""): return .string(try scanner.string(bytes.span))
            case UInt8(ascii: "t"): return try passed(.bool(true), bytes)
            case UInt8(ascii: "f"): return try passed(.bool(false), bytes)
            case UInt8(ascii: "n"): return try passed(.null, bytes)
            default: return try number(bytes)
            }
        }

        private mutating func passed(
            _ value: JSONValue, _ bytes: [UInt8]
        ) throws(JSONError) -> JSONValue {
            try scanner.skipValue(bytes.span)
            return value
        }

        private mutating func number(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
            let start = scanner.position
            try scanner.skipNumber(bytes.span)
            let text = try JSONScanner.text(bytes.span, start..<scanner.position)
            return .number(JSONNumber(trusted: text))
        }

        private mutating func array(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
            var values: [JSONValue] = []
            try scanner.enter()
            scanner.position += 1
            if try !scanner.take(UInt8(ascii: "]"), bytes.span) {
                repeat { values.append(try value(bytes)) } while try scanner.take(0x2C, bytes.span)
                try scanner.expect(UInt8(ascii: "]"), bytes.span)
            }
            scanner.leave()
            return .array(values)
        }

        private mutating func object(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
            var members: [Member] = []
            var places = NameTable()
            try scanner.enter()
            scanner.position += 1
            if try !scanner.take(UInt8(ascii: "}"), bytes.span) {
                repeat {
                    scanner.skipSpace(bytes.span)
                    let position = scanner.position
                    let name = try scanner.string(bytes.span)
                    if names == .areUnique, places.insert(name) != nil {
                        throw JSONError(.duplicateName(name), at: position)
                    }
                    try scanner.expect(UInt8(ascii: ":"), bytes.span)
                    members.append(Member(name, try value(bytes)))
                } while try scanner.take(UInt8(ascii: ","), bytes.span)
                try scanner.expect(UInt8(ascii: "}"), bytes.span)
            }
            scanner.leave()
            return .object(members)
        }
    }
}

/// When two texts that are dates with zones are the same value.
public enum DateSameness: Sendable, Hashable {
    /// They name one instant, to 100 ns.
    case instant
    /// They name one instant in all their digits, with the same offset from UTC.
    case digitsAndOffset
}

extension JSONText {
    /// Whether both are the same JSON value: numbers are compared as exact decimals (`1.10` and `11e-1`),
    /// two dates with zones as `dates` says, objects regardless of the order of their members.
    public func isSame(as other: JSONText, dates: DateSameness = .instant) -> Bool {
        self == other || value.isSame(as: other.value, dates: dates)
    }
}

extension JSONValue {
    /// Whether both are the same value; see ``JSONText/isSame(as:dates:)``.
    public func isSame(as other: JSONValue, dates: DateSameness = .instant) -> Bool {
        switch (self, other) {
        case (.null, .null): return true
        case (.bool(let left), .bool(let right)): return left == right
        case (.number(let left), .number(let right)): return left == right
        case (.string(let left), .string(let right)): return Self.isSame(left, right, dates)
        case (.array(let left), .array(let right)):
            return left.count == right.count
                && zip(left, right).allSatisfy { $0.isSame(as: $1, dates: dates) }
        case (.object(let left), .object(let right)): return Self.isSame(left, right, dates)
        case (.null, _), (.bool, _), (.number, _), (.string, _), (.array, _), (.object, _):
            return false
        }
    }

    private static func isSame(_ left: String, _ right: String, _ dates: DateSameness) -> Bool {
        if left.hasSameBytes(as: right) { return true }
        guard let first = Instant(iso: left), let second = Instant(iso: right), first == second
        else { return false }
        switch dates {
        case .instant: return true
        case .digitsAndOffset:
            return Instant.offsetMinutes(of: left) == Instant.offsetMinutes(of: right)
                && Instant.digitsBelowTick(of: left) == Instant.digitsBelowTick(of: right)
        }
    }

    private static func isSame(
        _ left: [Member], _ right: [Member], _ dates: DateSameness
    ) -> Bool {
        guard left.count == right.count else { return false }
        let byName: (Member, Member) -> Bool = {
            $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
        }
        return zip(left.sorted(by: byName), right.sorted(by: byName)).allSatisfy {
            $0.name.hasSameBytes(as: $1.name) && $0.value.isSame(as: $1.value, dates: dates)
        }
    }
}

/// A JSON number as the text it was received in. It is never converted to binary floating point.
public struct JSONNumber: Sendable, CustomStringConvertible {
    /// The text: `1.10`, `9007199254740993`, `1e400`.
    public let text: String

    /// Makes a number of a text; nil if the text is not one JSON number.
    public init?(_ text: String) {
        guard JSONScanner.isNumber(text) else { return nil }
        self.text = text
    }

    public init(_ integer: Int64) { text = String(integer) }

    init(trusted text: String) { self.text = text }

    /// The number as an integer, if its value is one that fits, such as `12` or `1.2e1`; else nil.
    public var integer: Int64? { Decimal(text).integer }

    public var description: String { text }
}

extension JSONNumber: Hashable {
    /// Numbers are equal if they have the same decimal value: `1.10`, `1.1` and `11e-1`.
    public static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        left.text == right.text || Decimal(left.text) == Decimal(right.text)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(Decimal(text)) }
}

/// The exact value of a JSON number: digits without zeros at either end, times a power of ten.
///
/// Numbers of equal value have equal fields. An exponent that does not fit is kept as its digits, so that
/// `1e99999999999999999999` equals only itself.
struct Decimal: Hashable {
    private var isNegative = false
    private var digits: [UInt8] = []
    private var exponent = 0
    private var hugeExponent: [UInt8] = []

    /// Parses the text of a valid JSON number.
    init(_ text: String) {
        var exponentText: [UInt8] = []
        var fractionDigits = 0
        var isFraction = false
        var isExponent = false
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "-") where !isExponent: isNegative = true
            case UInt8(ascii: "."): isFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"): isExponent = true
            case _ where isExponent: exponentText.append(byte)
            default:
                if isFraction { fractionDigits += 1 }
                if byte != UInt8(ascii: "0") || !digits.isEmpty { digits.append(byte) }
            }
        }
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            fractionDigits -= 1
        }
        if digits.isEmpty {
            isNegative = false
            return
        }
        setExponent(exponentText, fractionDigits: fractionDigits)
    }

    /// The value as an integer; nil if it is not one that fits.
    var integer: Int64? {
        if digits.isEmpty { return 0 }
        guard hugeExponent.isEmpty, exponent >= 0, digits.count + exponent <= 19 else { return nil }
        let sign = isNegative ? "-" : ""
        let zeros = String(repeating: "0", count: exponent)
        return Int64(sign + String(decoding: digits, as: UTF8.self) + zeros)
    }

    private mutating func setExponent(_ text: [UInt8], fractionDigits: Int) {
        let value = text.isEmpty ? 0 : Int(String(decoding: text, as: UTF8.self))
        guard let value, value.magnitude <= UInt(Limits.decimalExponent) else {
            exponent = -fractionDigits
            hugeExponent = Self.withoutZeros(text)
            return
        }
        exponent = value - fractionDigits
    }

    private static func withoutZeros(_ text: [UInt8]) -> [UInt8] {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = text.drop { [UInt8(ascii: "+"), UInt8(ascii: "-"), 0x30].contains($0) }
        return (isNegative ? [UInt8(ascii: "-")] : []) + digits
    }
}
