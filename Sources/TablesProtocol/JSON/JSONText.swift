/// One complete, valid JSON value, kept as the text it was received in: numbers, escapes and
/// spacing survive.
public struct JSONText: Sendable, Hashable, CustomStringConvertible {
    /// The text without white space around it.
    public let text: String

    /// Takes JSON text.
    /// - Throws: ``JSONError`` when it is not exactly one value of RFC 8259.
    public init(validating text: String) throws(JSONError) {
        self = try JSONText(validating: Array(text.utf8))
    }

    /// Takes the bytes of JSON text.
    /// - Throws: ``JSONError`` when they are not exactly one value of RFC 8259 in UTF-8.
    public init(validating bytes: [UInt8]) throws(JSONError) {
        let range = try JSONScanner.onlyValue(in: bytes.span)
        text = try JSONScanner.text(bytes.span, range)
    }

    /// Takes text that is JSON by construction.
    init(trusted text: String) { self.text = text }

    /// `null`.
    public static let null = JSONText(trusted: "null")

    /// A string.
    public static func string(_ text: String) -> JSONText {
        var bytes: [UInt8] = []
        bytes.appendJSONString(text)
        return JSONText(trusted: String(decoding: bytes, as: UTF8.self))
    }

    /// `true` or `false`.
    public static func bool(_ value: Bool) -> JSONText {
        JSONText(trusted: value ? "true" : "false")
    }

    /// A whole number.
    public static func integer(_ value: Int64) -> JSONText {
        JSONText(trusted: String(value))
    }

    /// Whether the value is `null`.
    public var isNull: Bool { text == "null" }

    /// The string when the value is one.
    public var string: String? { text.utf8.first == UInt8(ascii: "\"") ? value.string : nil }

    /// The value as a tree.
    public var value: JSONValue {
        // The text was validated on the way in and names may repeat, so parsing cannot fail.
        (try? JSONValue(parsing: Array(text.utf8), names: .mayRepeat)) ?? .null
    }

    /// The text.
    public var description: String { text }

    /// Equal when the texts have the same bytes.
    public static func == (left: JSONText, right: JSONText) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    /// Hashes the text.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
