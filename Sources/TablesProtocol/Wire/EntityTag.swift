/// What an `If-Match` or `If-None-Match` field asks for.
public enum IfMatch: Sendable, Hashable {
    /// No field came, or none that the client's generation of servers can read.
    case absent
    /// `*`: any version.
    case any
    /// Any of these versions; none is left of a field with weak tags only, which never match.
    case versions([String])
    /// The field is not one that the client's generation of servers accepts.
    case invalid(String)

    /// Whether the condition holds for an item of this version. An invalid one never holds.
    public func accepts(_ version: String) -> Bool {
        switch self {
        case .absent, .any: true
        case .versions(let versions): versions.contains { $0.hasSameBytes(as: version) }
        case .invalid: false
        }
    }

    /// Reads the field as servers of the generation do: the first refuses weak, unquoted and
    /// several tags, the second refuses several, the third takes any and passes over what it cannot
    /// read, an unquoted version too; weak tags never match.
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
    /// The text without spaces and tabs around it.
    var trimmed: Substring { self[...].trimmed }
}

extension Substring {
    /// The text without spaces and tabs around it.
    var trimmed: Substring {
        var text = self
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text.drop { $0 == " " || $0 == "\t" }
    }
}

/// One tag of a list in an `If-Match` or `If-None-Match` field.
enum EntityTag {
    case strong(String, rest: Substring)
    case weak(rest: Substring)

    /// Takes the tag that `text` begins with; nil when it begins with none.
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
    /// The versions in the strong tags, in order.
    private(set) var strong: [String] = []
    /// How many tags were read, weak ones too.
    private(set) var count = 0
    /// Whether one element is `*`.
    private(set) var hasAny = false
    /// Whether the field is one tag or several, with commas between them, and nothing else.
    private(set) var isWhole = true

    /// Reads a field; an element that is no tag is passed over.
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

    /// Takes the element that the text begins with, and gives what follows it.
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

/// The text form of a version in the `ETag`, `If-Match` and `If-None-Match` fields.
public enum ETag {
    /// The version in quotes, each inner quote preceded by a backslash.
    public static func quote(_ version: String) -> String {
        guard version.utf8.contains(UInt8(ascii: "\"")) else { return "\"\(version)\"" }
        var text = "\""
        for character in version.unicodeScalars {
            if character == "\"" { text.append("\\") }
            text.unicodeScalars.append(character)
        }
        return text + "\""
    }

    /// The version inside a strong quoted tag; nil for a weak tag or one that is not quoted.
    public static func unquote(_ tag: some StringProtocol) -> String? {
        guard case .some(.strong(let version, let rest)) = EntityTag.first(in: Substring(tag)),
            rest.isEmpty
        else { return nil }
        return version
    }
}
