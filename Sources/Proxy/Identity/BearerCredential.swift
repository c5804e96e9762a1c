import HTTPMessage

/// The credential of an `Authorization: Bearer` field (RFC 6750).
enum BearerCredential {
    /// The token in a field's value, read by bytes: the scheme in any case, then any spaces and tabs,
    /// then one word; nil for every other value, such as that of two fields.
    static func token(_ value: String) -> String? {
        let words = value.utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard words.count == 2, Substring(words[0]).lowercased() == "bearer" else { return nil }
        return String(Substring(words[1]))
    }
}
