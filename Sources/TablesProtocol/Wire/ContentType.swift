import HTTPMessage

/// The content types that a body on `/tables` may have.
enum ContentType {
    /// Whether a body of this type is a JSON Patch (RFC 6902).
    static func isJSONPatch(_ field: String?) -> Bool {
        field.map { MediaType($0).name == "application/json-patch+json" } ?? false
    }

    /// Whether a body of this type is JSON in UTF-8. A missing type, and an empty one, count as JSON, as
    /// the SDKs' servers take them.
    static func isJSON(_ field: String?) -> Bool {
        guard let field, !field.trimmed.isEmpty else { return true }
        let type = MediaType(field)
        return type.isJSON
            && type.charsets.allSatisfy { ["utf-8", "\"utf-8\"", "utf8", "us-ascii"].contains($0) }
    }
}
