import HTTPTypes

/// The header fields of a request or an answer as an attempt records them: one line each, and
/// nothing in them that could be used to sign in.
enum RecordedFields {
    private static let secret: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "set-cookie", "x-zumo-auth",
        "x-zumo-application", "x-zumo-master", "x-functions-key", "api-key",
    ]
    /// Parts of a name that say that the value is a secret.
    private static let telling =
        ["token", "secret", "password", "credential"].map { Array($0.utf8) }

    /// `Name: value`, cut to ``SyncLimits/recordedFields`` lines; a secret's value is left out.
    static func lines(_ fields: HTTPFields) -> [String] {
        fields.prefix(SyncLimits.recordedFields).map { field in
            let name = field.name.rawName
            guard !isSecret(name.lowercased()) else { return "\(name): (kept secret)" }
            return "\(name): \(field.value.prefix(SyncLimits.recordedFieldCharacters))"
        }
    }

    private static func isSecret(_ name: String) -> Bool {
        if secret.contains(name) { return true }
        // By bytes: searching text by characters took a twentieth of a push.
        let bytes = Array(name.utf8)
        return telling.contains { part in
            bytes.indices.contains { bytes[$0...].starts(with: part) }
        }
    }
}
