/// Why a text is not acceptable JSON, and where.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong at the position.
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

    /// What is wrong.
    public var reason: Reason
    /// The byte offset from the start of the text, counted from 0.
    public var position: Int

    /// Makes an error.
    public init(_ reason: Reason, at position: Int) {
        self.reason = reason
        self.position = position
    }

    /// One sentence for a person.
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
