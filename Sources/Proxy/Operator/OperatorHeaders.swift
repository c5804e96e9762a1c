import HTTPTypes

/// What every answer under `/-/` says to a browser that shows it or is made to load it.
enum OperatorHeaders {
    /// 1. Its type is what it says.
    /// 2. Only pages of this origin may have it.
    /// 3. As a page it loads nothing, runs nothing, and stands in no frame. The dashboard's files have
    ///    a policy of their own.
    static let fields: HTTPFields = [
        .xContentTypeOptions: "nosniff", .resourcePolicy: "same-origin",
        .contentSecurityPolicy: policy,
    ]

    /// The fields of an answer, with these.
    static func closing(_ fields: HTTPFields) -> HTTPFields {
        var closed = fields
        for field in Self.fields { closed[field.name] = field.value }
        return closed
    }

    /// The policy of an answer that is no page of the dashboard.
    static let policy =
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
