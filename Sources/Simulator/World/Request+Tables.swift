public import HTTPMessage
import HTTPTypes

extension Request {
    /// A request as a second generation client makes it.
    public static func tables(
        _ method: String, _ path: String, _ body: String? = nil, ifMatch: String? = nil
    ) -> Request {
        var head = HTTPRequest(
            method: HTTPRequest.Method(method) ?? .get, scheme: "http", authority: "backend:1",
            path: path)
        if let name = HTTPField.Name("ZUMO-API-VERSION") { head.headerFields[name] = "2.0.0" }
        if body != nil { head.headerFields[.contentType] = "application/json" }
        head.headerFields[.ifMatch] = ifMatch
        return Request(head: head, body: body.map { Array($0.utf8) } ?? [])
    }
}
