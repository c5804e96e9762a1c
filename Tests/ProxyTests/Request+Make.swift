import HTTPMessage
import HTTPTypes

extension Request {
    /// A request of a local program on 127.0.0.1:8080.
    static func make(
        _ method: String = "GET", _ target: String = "/tables/todoitem",
        _ fields: KeyValuePairs<String, String> = [:], body: String = "",
        host: String? = "127.0.0.1:8080", localAddress: String = "127.0.0.1", port: UInt16 = 8080
    ) -> Request {
        var head = HTTPRequest(
            method: HTTPRequest.Method(method) ?? .get, scheme: "http", authority: host,
            path: target)
        for (name, value) in fields {
            if let name = HTTPField.Name(name) {
                head.headerFields.append(HTTPField(name: name, value: value))
            }
        }
        if !body.isEmpty { head.headerFields[.contentLength] = String(body.utf8.count) }
        return Request(
            head: head, body: Array(body.utf8),
            announcedBytes: head.headerFields[.contentLength].flatMap { Int($0) },
            connection: Connection(localAddress: localAddress, localPort: port, worker: 0))
    }
}
