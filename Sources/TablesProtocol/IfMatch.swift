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
