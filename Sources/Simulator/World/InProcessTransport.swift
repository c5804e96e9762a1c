public import Backend
public import HTTPMessage

/// The reference backend as a transport: through the wire format, but without a socket.
public struct InProcessTransport: HTTPTransport {
    private let backend: TablesBackend

    /// Speaks to this backend.
    public init(_ backend: TablesBackend) { self.backend = backend }

    /// Sends a request; a stream of the backend that fails is a connection that breaks.
    public func send(_ request: Request) async throws(TransportError) -> Response {
        try Self.whole(respond(request))
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
