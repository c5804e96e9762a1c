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
