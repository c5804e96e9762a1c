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
