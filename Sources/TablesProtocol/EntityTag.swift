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
