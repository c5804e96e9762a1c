/// The kind of a table's ids.
public enum IDKind: String, Sendable, Hashable, CaseIterable {
    /// Text that the client or the server generates.
    case string
    /// A positive integer assigned by the server; first generation tables only.
    case integer
}

/// The id of an item in its table: validated text, compared byte for byte.
public struct ItemID: Sendable, Hashable, CustomStringConvertible {
    /// The id as text; decimal digits for an integer id.
    public let text: String
    /// Whether the id is a JSON string or a number. Not compared by `==`, because a path segment does not
    /// show it.
    public let kind: IDKind

    /// Why a text is not an id.
    public enum Refusal: Error, Sendable, Hashable {
        case empty
        case tooLong(limitUnits: Int)
        case forbiddenCharacter(Unicode.Scalar)
        /// `.` and `..`, which are removed from a path.
        case dots
    }

    /// Makes a string id of 1 to ``Limits/idUnits`` UTF-16 units. Control characters, `"`, `+`, `?`, `\`,
    /// `/`, the backtick, and the ids `.` and `..` are refused.
    public init(_ text: String) throws(Refusal) {
        if text.isEmpty { throw .empty }
        self.text = text
        kind = .string
        if text.utf8.count <= Limits.idUnits, Self.isPlain(text) { return }
        if text == "." || text == ".." { throw .dots }
        if text.utf8.count > Limits.idUnits, text.utf16.count > Limits.idUnits {
            throw .tooLong(limitUnits: Limits.idUnits)
        }
        if let scalar = text.unicodeScalars.first(where: Self.isForbidden) {
            throw .forbiddenCharacter(scalar)
        }
    }

    /// Makes an integer id. A negative one is provisional, until the backend assigns one.
    public init(_ number: Int64) {
        text = String(number)
        kind = .integer
    }

    /// Makes an id of text that was generated as an id.
    init(generated text: String) {
        self.text = text
        kind = .string
    }

    /// Makes an id of stored text without validating it again. A table of integer ids keeps tombstones of
    /// items that had a text before.
    /// - Parameter kind: the kind of the table's ids.
    package init(stored text: String, kind: IDKind) {
        self.text = text
        self.kind = kind == .integer && Int64(text) == nil ? .string : kind
    }

    /// The id as an integer; nil if its text is not one.
    public var number: Int64? { Int64(text) }

    public var description: String { text }

    /// Ids are equal when their texts have the same bytes.
    public static func == (left: ItemID, right: ItemID) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Whether a byte is a letter, a digit, `-` or `_`. Most ids consist of these, and paths do not encode
    /// them.
    package static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isPlain(_ text: String) -> Bool {
        let bytes = text.utf8Span.span
        for place in bytes.indices where !isPlain(bytes[place]) { return false }
        return true
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\"", "+", "?", "\\", "/", "`": true
        default: false
        }
    }
}

extension ItemID {
    /// Makes a random id (UUID version 4) in the form of the generation's servers: upper-case with dashes,
    /// lower-case with dashes, or 32 lower-case digits.
    public static func make(
        generation: Generation, random: inout some RandomNumberGenerator
    ) -> ItemID {
        let high = (random.next() as UInt64) & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = (random.next() as UInt64) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        switch generation {
        case .mobileServices:
            return ItemID(generated: UUIDText.make(high, low, isUpperCase: true))
        case .mobileApps: return ItemID(generated: UUIDText.make(high, low))
        case .datasync: return ItemID(generated: UUIDText.make(high, low, isDashed: false))
        }
    }
}

/// UUIDs as text. Each write makes two, so the digits are written into one buffer.
package enum UUIDText {
    /// The 32 hexadecimal digits of the two halves, with or without dashes.
    package static func make(
        _ high: UInt64, _ low: UInt64, isDashed: Bool = true, isUpperCase: Bool = false
    ) -> String {
        let letter = UInt8(ascii: isUpperCase ? "A" : "a") - 10
        var bytes: [UInt8] = []
        bytes.reserveCapacity(36)
        for word in [high, low] {
            for shift in stride(from: 60, through: 0, by: -4) {
                let digit = UInt8(truncatingIfNeeded: word >> UInt64(shift)) & 0xF
                bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : letter + digit)
                guard isDashed else { continue }
                switch bytes.count {
                case 8, 13, 18, 23: bytes.append(UInt8(ascii: "-"))
                default: break
                }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
