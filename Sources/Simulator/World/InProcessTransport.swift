public import Backend
public import HTTPMessage
import HTTPTypes
public import TablesProtocol

/// The reference backend as a transport, with the wire format but without a socket.
public struct InProcessTransport: HTTPTransport {
    private let backend: TablesBackend
    private let date: (@Sendable () -> Instant)?

    /// Makes a transport to a backend.
    /// - Parameter date: the clock of the web server before it, for the `Date` of its answers; nil for answers
    ///   without one.
    public init(_ backend: TablesBackend, date: (@Sendable () -> Instant)? = nil) {
        (self.backend, self.date) = (backend, date)
    }

    /// Sends a request. A stream of the backend that fails is a broken connection.
    public func send(_ request: Request) async throws(TransportError) -> Response {
        var response = try Self.whole(respond(request))
        if let date { response.head.headerFields[.date] = date().httpDate }
        return response
    }

    private func respond(_ request: Request) -> Response { backend.respond(to: request) }

    private static func whole(_ response: Response) throws(TransportError) -> Response {
        guard case .stream(let stream) = response.body else { return response }
        var bytes: [UInt8] = []
        while true {
            switch stream.read(maxBytes: 1 << 20, wake: {}) {
            case .bytes(let chunk): bytes += chunk
            case .end: return Response(head: response.head, body: bytes)
            case .wait:
                throw TransportError(reach: .maybeSent, cause: .timeout, message: "Timed out")
            case .failed:
                throw bytes.isEmpty
                    ? TransportError(reach: .maybeSent, cause: .reset, message: "Connection reset")
                    : TransportError(
                        reach: .maybeSent, cause: .tornBody, message: "The answer broke off")
            }
        }
    }
}

extension Request {
    /// A request of a second generation client.
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
