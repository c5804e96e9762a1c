import HTTPMessage
import HTTPTypes

/// A request without its authority.
struct Call: Sendable {
    var method: String
    var target: String
    var fields: [(String, String)]
    var body = ""

    /// The call as a request to this authority.
    func request(to authority: String) -> Request {
        var head = HTTPRequest(
            method: HTTPRequest.Method(method) ?? .get, scheme: "http", authority: authority,
            path: target)
        for (name, value) in fields {
            if let name = HTTPField.Name(name) {
                head.headerFields.append(HTTPField(name: name, value: value))
            }
        }
        if !body.isEmpty { head.headerFields[.contentLength] = String(body.utf8.count) }
        return Request(
            head: head, body: Array(body.utf8), announcedBytes: body.utf8.count,
            connection: Connection(localAddress: "127.0.0.1", localPort: 8080, worker: 0))
    }

    /// A query pair with its spaces and pluses encoded, as every SDK does.
    static func encoded(_ pair: String) -> String {
        pair.replacing("%", with: "%25").replacing(" ", with: "%20").replacing("+", with: "%2B")
    }
}
