import HTTPMessage
import HTTPTypes

extension RefusalReason {
    /// The answer: status and `{"error": sentence}`.
    var response: Response { Self.response(status, sentence: sentence) }

    /// A server-made answer. `sentence` needs no JSON escaping.
    static func response(_ status: HTTPResponse.Status, sentence: String) -> Response {
        // It may stand for any path, also one whose answers no other page may have.
        var fields: HTTPFields = [
            .contentType: "application/json; charset=utf-8", .xContentTypeOptions: "nosniff",
            .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
        ]
        if let policy = HTTPField.Name("Cross-Origin-Resource-Policy") {
            fields[policy] = "same-origin"
        }
        if status == .serviceUnavailable { fields[.retryAfter] = "1" }
        return Response(
            status: status, headerFields: fields, body: Array("{\"error\":\"\(sentence)\"}".utf8))
    }
}
