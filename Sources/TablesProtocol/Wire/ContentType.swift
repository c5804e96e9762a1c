/// The content types that a body on `/tables` may have.
enum ContentType {
    /// Whether a body of this type is a JSON Patch (RFC 6902).
    static func isJSONPatch(_ field: String?) -> Bool {
        let type = field?.split(separator: ";").first.map { String($0).trimmed.lowercased() }
        return type == "application/json-patch+json"
    }

    /// Whether a body of this type is JSON: `application/json` and `*+json`, in UTF-8. A missing
    /// type, and an empty one, count as JSON, as the SDKs' servers take them.
    static func isJSON(_ field: String?) -> Bool {
        guard let field, !field.trimmed.isEmpty else { return true }
        let parts = field.lowercased().split(separator: ";")
        guard let type = parts.first.map({ String($0).trimmed }) else { return false }
        guard type == "application/json" || (type.contains("/") && type.hasSuffix("+json")) else {
            return false
        }
        return parts.dropFirst().allSatisfy { part in
            let pair = part.split(separator: "=").map { String($0).trimmed }
            guard pair.first == "charset", pair.count == 2 else { return true }
            return ["utf-8", "\"utf-8\"", "utf8", "us-ascii"].contains(pair[1])
        }
    }
}
