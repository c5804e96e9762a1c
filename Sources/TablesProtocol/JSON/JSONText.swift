/// One valid JSON value, kept as the text it was received in: numbers, escapes and white space stay the
/// same.
public struct JSONText: Sendable, Hashable, CustomStringConvertible {
    /// The text without white space around it.
    public let text: String

    /// Validates JSON text.
    /// - Throws: ``JSONError`` if it is not exactly one value of RFC 8259.
    public init(validating text: String) throws(JSONError) {
        self = try JSONText(validating: Array(text.utf8))
    }

    /// Validates the bytes of JSON text.
    /// - Throws: ``JSONError`` if they are not exactly one value of RFC 8259 in UTF-8.
    public init(validating bytes: [UInt8]) throws(JSONError) {
        let range = try JSONScanner.onlyValue(in: bytes.span)
        text = try JSONScanner.text(bytes.span, range)
    }

    /// Makes a value of text that was generated as JSON.
    init(trusted text: String) { self.text = text }

    /// `null`.
    public static let null = JSONText(trusted: "null")

    public static func string(_ text: String) -> JSONText {
        var bytes: [UInt8] = []
        bytes.appendJSONString(text)
        return JSONText(trusted: String(decoding: bytes, as: UTF8.self))
    }

    /// `true` or `false`.
    public static func bool(_ value: Bool) -> JSONText {
        JSONText(trusted: value ? "true" : "false")
    }

    public static func integer(_ value: Int64) -> JSONText {
        JSONText(trusted: String(value))
    }

    /// Whether the value is `null`.
    public var isNull: Bool { text == "null" }

    /// The string; nil if the value is not one.
    public var string: String? { text.utf8.first == UInt8(ascii: "\"") ? value.string : nil }

    public var value: JSONValue {
        // The text was validated and names may repeat here, so parsing cannot fail.
        (try? JSONValue(parsing: Array(text.utf8), names: .mayRepeat)) ?? .null
    }

    public var description: String { text }

    /// Equal when the texts have the same bytes.
    public static func == (left: JSONText, right: JSONText) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// Why a text is not valid JSON, and at which position.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Reason: Sendable, Hashable {
        case unexpectedEnd
        case unexpectedByte(UInt8)
        case badNumber
        case badEscape
        /// A `\u` escape of half a surrogate pair: no Unicode text can hold it.
        case loneSurrogate
        /// A byte below 0x20 inside a string.
        case controlCharacter
        case badUTF8
        case byteOrderMark
        case tooDeep(limit: Int)
        case tooLarge(limitBytes: Int)
        case duplicateName(String)
        case trailingBytes
        case notAnObject
    }

    public var reason: Reason
    /// The byte offset from the start of the text, from 0.
    public var position: Int

    public init(_ reason: Reason, at position: Int) {
        self.reason = reason
        self.position = position
    }

    public var description: String { "Invalid JSON at byte \(position): \(reasonText)." }

    private var reasonText: String {
        switch reason {
        case .unexpectedEnd: "the text ends too early"
        case .unexpectedByte(let byte): "unexpected byte 0x\(String(byte, radix: 16))"
        case .badNumber: "malformed number"
        case .badEscape: "unknown escape in a string"
        case .loneSurrogate: "an escape names half a surrogate pair"
        case .controlCharacter: "an unescaped control character in a string"
        case .badUTF8: "the bytes are not UTF-8"
        case .byteOrderMark: "a byte order mark is not allowed"
        case .tooDeep(let limit): "nested deeper than \(limit) levels"
        case .tooLarge(let limit): "longer than \(limit) bytes"
        case .duplicateName(let name): "the name '\(name)' appears twice"
        case .trailingBytes: "something follows the value"
        case .notAnObject: "a single JSON object is expected"
        }
    }
}

extension JSONValue {
    /// The value as JSON text without white space.
    public var text: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += Array("null".utf8)
        case .bool(let value): bytes += Array((value ? "true" : "false").utf8)
        case .number(let number): bytes += Array(number.text.utf8)
        case .string(let text): bytes.appendJSONString(text)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes.appendJSONString(member.name)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}

extension [UInt8] {
    /// Appends a string in quotes, with the escapes that JSON requires.
    package mutating func appendJSONString(_ text: String) {
        append(UInt8(ascii: "\""))
        if Self.needsEscapes(text) { appendEscaped(text) } else { append(contentsOf: text.utf8) }
        append(UInt8(ascii: "\""))
    }

    private static func needsEscapes(_ text: String) -> Bool {
        for byte in text.utf8
        where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
            return true
        }
        return false
    }

    private mutating func appendEscaped(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case 0x0A: self += "\\n".utf8
            case 0x0D: self += "\\r".utf8
            case 0x09: self += "\\t".utf8
            case 0..<0x20:
                self += (byte < 0x10 ? "\\u000" : "\\u00").utf8
                self += String(byte, radix: 16).utf8
            default: append(byte)
            }
        }
    }
}
