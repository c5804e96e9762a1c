import HTTPTypes

/// The security header fields of every answer under `/-/`.
enum OperatorHeaders {
    /// 1. Browsers do not guess the media type.
    /// 2. Pages of other origins cannot load the answer.
    /// 3. As a page it loads nothing, runs nothing, and is in no frame. The dashboard's files have a policy
    ///    of their own.
    static let fields: HTTPFields = [
        .xContentTypeOptions: "nosniff", .resourcePolicy: "same-origin",
        .contentSecurityPolicy: policy,
    ]

    /// The fields of an answer with these added.
    static func added(to fields: HTTPFields) -> HTTPFields {
        var closed = fields
        for field in Self.fields { closed[field.name] = field.value }
        return closed
    }

    /// The content security policy of an answer that is no file of the dashboard.
    static let policy =
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
