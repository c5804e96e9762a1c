/// A JSON number as the text it was received in; it never passes through binary floating point.
public struct JSONNumber: Sendable, CustomStringConvertible {
    /// The text: `1.10`, `9007199254740993`, `1e400`.
    public let text: String

    /// Takes a valid number; nil when `text` is not one JSON number.
    public init?(_ text: String) {
        guard JSONScanner.isNumber(text) else { return nil }
        self.text = text
    }

    /// Takes an integer.
    public init(_ integer: Int64) { text = String(integer) }

    init(trusted text: String) { self.text = text }

    /// The number as an integer when its value is one that fits: `12`, `1.2e1`.
    public var integer: Int64? { Decimal(text).integer }

    /// The text.
    public var description: String { text }
}

extension JSONNumber: Hashable {
    /// Numbers are equal when they are the same decimal: `1.10`, `1.1` and `11e-1`.
    public static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        left.text == right.text || Decimal(left.text) == Decimal(right.text)
    }

    /// Hashes the decimal.
    public func hash(into hasher: inout Hasher) { hasher.combine(Decimal(text)) }
}
