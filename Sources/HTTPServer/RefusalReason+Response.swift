import HTTPMessage
import HTTPTypes

extension RefusalReason {
    /// The answer: status and `{"error": sentence}`.
    var response: Response { Self.response(status, sentence: sentence) }

    /// An answer of the server's own: `status` and `{"error": sentence}`.
    /// - Parameter sentence: text without characters that JSON escapes.
    static func response(_ status: HTTPResponse.Status, sentence: String) -> Response {
        // The path may be one of the operator API, whose answers no other origin may read.
        var fields: HTTPFields = [
            .contentType: "application/json; charset=utf-8", .xContentTypeOptions: "nosniff",
            .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
        ]
        if let policy = HTTPField.Name("Cross-Origin-Resource-Policy") {
            fields[policy] = "same-origin"
        }
        if status == .serviceUnavailable { fields[.retryAfter] = String(Limits.retryAfterSeconds) }
        return Response(
            status: status, headerFields: fields, body: Array("{\"error\":\"\(sentence)\"}".utf8))
    }
}
