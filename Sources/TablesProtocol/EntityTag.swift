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
