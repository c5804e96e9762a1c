/// The condition of an `If-Match` or `If-None-Match` field.
public enum IfMatch: Sendable, Hashable {
    /// There is no field, or none that servers of the generation can parse.
    case absent
    /// `*`: any version.
    case any
    /// Any of these versions. The list is empty for a field with weak tags only, which never match.
    case versions([String])
    /// Servers of the generation refuse the field.
    case invalid(String)

    /// Whether the condition holds for a version. An invalid field never holds.
    public func accepts(_ version: String) -> Bool {
        switch self {
        case .absent, .any: true
        case .versions(let versions): versions.contains { $0.hasSameBytes(as: version) }
        case .invalid: false
        }
    }

    /// Parses the field as servers of the generation do. The first refuses weak, unquoted and several tags;
    /// the second refuses several tags; the third accepts any field and ignores invalid and unquoted tags.
    /// Weak tags never match.
    public static func parse(_ field: String?, generation: Generation) -> IfMatch {
        guard let field else { return .absent }
        let text = field.trimmed
        if text == "*" { return .any }
        let list = EntityTagList(text)
        if generation == .datasync {
            if list.hasAny { return .any }
            return list.count == 0 ? .absent : .versions(list.strong)
        }
        guard list.isWhole else { return unquoted(text, field, generation) }
        let strict = generation == .mobileServices && list.count != list.strong.count
        return strict || list.count > 1 ? .invalid(field) : .versions(list.strong)
    }

    private static func unquoted(
        _ text: Substring, _ field: String, _ generation: Generation
    ) -> IfMatch {
        let isPlain = !text.isEmpty && !text.utf8.contains(where: { "\", ".utf8.contains($0) })
        return isPlain && generation != .mobileServices
            ? .versions([String(text)]) : .invalid(field)
    }
}

extension String {
    /// The text without leading and trailing spaces and tabs.
    var trimmed: Substring { self[...].trimmed }
}

extension Substring {
    /// The text without leading and trailing spaces and tabs.
    var trimmed: Substring {
        var text = self
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text.drop { $0 == " " || $0 == "\t" }
    }
}

/// One tag in an `If-Match` or `If-None-Match` field.
enum EntityTag {
    case strong(String, rest: Substring)
    case weak(rest: Substring)

    /// Parses the tag at the beginning of a text; nil if there is none.
    static func first(in text: Substring) -> EntityTag? {
        let isWeak = text.hasPrefix("W/")
        var rest = isWeak ? text.dropFirst(2) : text
        guard rest.unicodeScalars.popFirst() == "\"" else { return nil }
        var version = String.UnicodeScalarView()
        while let scalar = rest.unicodeScalars.popFirst() {
            if scalar == "\"" {
                return isWeak ? .weak(rest: rest) : .strong(String(version), rest: rest)
            }
            if scalar == "\\", rest.unicodeScalars.first == "\"" {
                rest.unicodeScalars.removeFirst()
                version.append("\"")
            } else {
                version.append(scalar)
            }
        }
        return nil
    }
}

/// The tags of an `If-Match` or `If-None-Match` field.
struct EntityTagList {
    /// The versions of the strong tags, in order.
    private(set) var strong: [String] = []
    /// The number of tags, including weak ones.
    private(set) var count = 0
    /// Whether one element is `*`.
    private(set) var hasAny = false
    /// Whether the field consists only of tags, separated by commas.
    private(set) var isWhole = true

    /// Parses a field. An element that is not a tag is skipped.
    init(_ field: Substring) {
        var rest = field.trimmed
        repeat {
            let after = take(rest).trimmed
            let end = after.firstIndex(of: ",")
            if end != after.startIndex, !after.isEmpty { isWhole = false }
            guard let end else { return }
            rest = after[after.index(after: end)...].trimmed
        } while true
    }

    /// Parses the element at the beginning of the text.
    /// - Returns: the rest of the text.
    private mutating func take(_ text: Substring) -> Substring {
        if text.first == "*", text.dropFirst().trimmed.first.map({ $0 == "," }) ?? true {
            hasAny = true
            isWhole = false
            return text.dropFirst()
        }
        guard let tag = EntityTag.first(in: text) else {
            isWhole = false
            return text
        }
        switch tag {
        case .strong(let version, let rest):
            guard Self.endsElement(rest) else { return rest }
            strong.append(version)
            count += 1
            return rest
        case .weak(let rest):
            guard Self.endsElement(rest) else { return rest }
            count += 1
            return rest
        }
    }

    private static func endsElement(_ rest: Substring) -> Bool {
        rest.trimmed.first.map { $0 == "," } ?? true
    }
}

/// The form of a version in the `ETag`, `If-Match` and `If-None-Match` fields.
public enum ETag {
    /// The version in quotes, with a backslash before each inner quote.
    public static func quote(_ version: String) -> String {
        guard version.utf8.contains(UInt8(ascii: "\"")) else { return "\"\(version)\"" }
        var text = "\""
        for character in version.unicodeScalars {
            if character == "\"" { text.append("\\") }
            text.unicodeScalars.append(character)
        }
        return text + "\""
    }

    /// The version of a strong quoted tag; nil for a weak or unquoted tag.
    public static func unquote(_ tag: some StringProtocol) -> String? {
        guard case .some(.strong(let version, let rest)) = EntityTag.first(in: Substring(tag)),
            rest.isEmpty
        else { return nil }
        return version
    }
}
