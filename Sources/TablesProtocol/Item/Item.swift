/// An item as a client sees it, independent of the generation.
public struct Item: Sendable, Hashable {
    public var id: ItemID
    /// The user's columns only, without id and system properties.
    public var columns: Columns
    /// When it was created; nil if the server does not say (third generation).
    public var createdAt: Instant?
    /// When it last changed. Strictly increasing in a table.
    public var updatedAt: Instant
    /// The opaque version, without quotes.
    public var version: String
    /// Whether only a tombstone is left.
    public var deleted: Bool

    public init(
        id: ItemID, columns: Columns, createdAt: Instant?, updatedAt: Instant, version: String,
        deleted: Bool = false
    ) {
        self.id = id
        self.columns = columns
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.version = version
        self.deleted = deleted
    }
}

/// The properties of an item that the server sets, besides the id.
public enum SystemProperty: Sendable, Hashable, CaseIterable {
    case createdAt, updatedAt, version, deleted

    /// The name on the wire; nil if the generation does not have the property.
    public func name(in generation: Generation) -> String? {
        switch (generation, self) {
        case (.mobileServices, .createdAt): "__createdAt"
        case (.mobileServices, .updatedAt): "__updatedAt"
        case (.mobileServices, .version): "__version"
        case (.mobileServices, .deleted): "__deleted"
        case (.datasync, .createdAt): nil
        case (.mobileApps, .createdAt): "createdAt"
        case (.mobileApps, .updatedAt), (.datasync, .updatedAt): "updatedAt"
        case (.mobileApps, .version), (.datasync, .version): "version"
        case (.mobileApps, .deleted), (.datasync, .deleted): "deleted"
        }
    }

    /// The property with this name on the wire, in any case; nil for a user's column.
    public init?(named name: String, in generation: Generation) {
        let found = Self.allCases.first { property in
            // Most names differ in length already.
            guard let known = property.name(in: generation), known.utf8.count == name.utf8.count
            else { return false }
            return known.lowercased() == name.lowercased()
        }
        guard let found else { return nil }
        self = found
    }
}

public struct ItemPage: Sendable, Hashable {
    public var items: [Item]
    /// The number of items that match the filter, regardless of skip and top; nil if not requested.
    public var count: Int?
    /// Whether more items match within the client's own `$top`.
    public var hasMore: Bool
    /// Whether the items' `updatedAt` are the store's own stamps, from which the next page can continue.
    public var hasOwnStamps: Bool
    /// The backend's own query for the next page, still encoded; nil if the client's own query leads there.
    public var next: String?

    public init(
        items: [Item], count: Int? = nil, hasMore: Bool = false, hasOwnStamps: Bool = true,
        next: String? = nil
    ) {
        self.items = items
        self.count = count
        self.hasMore = hasMore
        self.hasOwnStamps = hasOwnStamps
        self.next = next
    }
}

/// The kind of a table's ids.
public enum IDKind: String, Codable, Sendable, Hashable, CaseIterable {
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
