/// A number of an expression with the digits it came with.
public struct NumberLiteral: Sendable, Hashable {
    /// What the suffix said: none, `L`, `f`, `d` or `M`.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case plain = ""
        case long = "L"
        case single = "f"
        case double = "d"
        case decimal = "M"
    }

    /// Sign and digits in JSON's form, without suffix.
    public let text: String
    /// The suffix.
    public let kind: Kind

    /// A number whose text is known to be well formed.
    init(text: String, kind: Kind) {
        self.text = text
        self.kind = kind
    }

    /// A whole number.
    public init(_ value: Int64) {
        self.init(text: String(value), kind: .plain)
    }

    /// The value if it is whole, has no fraction or exponent, and fits.
    public var integer: Int64? {
        switch kind {
        case .plain, .long: Int64(text)
        case .single, .double, .decimal: nil
        }
    }
}
