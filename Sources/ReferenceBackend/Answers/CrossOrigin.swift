import HTTPMessage
import HTTPTypes

/// What browsers ask before and read after a request from another origin, as both Node servers
/// answer it: pages on `localhost` may use the tables.
enum CrossOrigin {
    /// Adds the fields that let the page of an allowed origin read the answer.
    static func add(to response: inout Response, _ call: Call) {
        guard let origin = call.field(.origin), isLocal(origin) else { return }
        response.head.headerFields[.accessControlAllowOrigin] = origin
        response.head.headerFields[.accessControlExposeHeaders] = "Link,Etag"
        guard call.method == .options else { return }
        response.head.headerFields[.accessControlAllowHeaders] =
            call.field(.accessControlRequestHeaders)
        response.head.headerFields[.accessControlAllowMethods] =
            "GET, PUT, PATCH, POST, DELETE, OPTIONS"
        response.head.headerFields[.accessControlMaxAge] = "300"
    }

    private static func isLocal(_ origin: String) -> Bool {
        guard let separator = origin.firstRange(of: "://") else { return false }
        return origin[separator.upperBound...].prefix { $0 != ":" } == "localhost"
    }
}

extension Answerer {
    /// The answer to a preflight; the fields for other origins come on top.
    func preflight() -> Response {
        let methods = "GET,HEAD,POST,PATCH,DELETE"
        var fields = commonFields
        fields[.allow] = methods
        fields[.contentType] = "text/html; charset=utf-8"
        let response = Response(status: .ok, headerFields: fields, body: Array(methods.utf8))
        return taggedByExpress(response)
    }
}
