/// The media type that a Content-Type field names (RFC 9110, section 8.3.1).
public struct MediaType: Sendable, Hashable {
    /// Type and subtype in lower case, such as `application/json`; empty for an empty field.
    public let name: String
    /// The values of its parameters `charset`, in lower case, as they stand in the field.
    public let charsets: [String]

    public init(_ field: String) {
        let parts = field.lowercased().split(separator: ";", omittingEmptySubsequences: false)
        name = String(parts[0].withoutBlanks)
        charsets = parts.dropFirst().compactMap { part in
            let pair = part.split(separator: "=", maxSplits: 1).map(\.withoutBlanks)
            return pair.count == 2 && pair[0] == "charset" ? String(pair[1]) : nil
        }
    }

    /// Whether it is JSON: `application/json`, or a type based on it (`application/…+json`).
    public var isJSON: Bool {
        name == "application/json"
            || (name.hasPrefix("application/") && name.hasSuffix("+json")
                && name.utf8.count > "application/+json".utf8.count)
    }

    /// Whether it is a form without files.
    public var isForm: Bool { name == "application/x-www-form-urlencoded" }
}

extension Substring {
    /// The text without spaces and tabs at both ends.
    fileprivate var withoutBlanks: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}

extension Substring {
    /// The parts of a header field's value between two `separator` bytes, each without the spaces and
    /// tabs at its ends; empty parts are left out.
    ///
    /// The value is split by bytes. By characters, a scalar that joins with the next one, such as U+0600
    /// before a semicolon, would hide the separator.
    public func pieces(separatedBy separator: UInt8) -> [Substring] {
        var pieces: [Substring] = []
        for part in utf8.split(separator: separator) {
            var (start, end) = (part.startIndex, part.endIndex)
            while start < end, Self.isBlank(utf8[start]) { start = utf8.index(after: start) }
            while start < end, Self.isBlank(utf8[utf8.index(before: end)]) {
                end = utf8.index(before: end)
            }
            if start < end { pieces.append(self[start..<end]) }
        }
        return pieces
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}
