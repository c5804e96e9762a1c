/// Sends a request to the backend and returns its response: everything that leaves for the network
/// passes through it.
///
/// The program uses libcurl; tests call a backend in their own process, with or without faults.
public protocol HTTPTransport: Sendable {
    /// Sends `request`, whose head carries scheme, authority and path.
    /// - Returns: the answer of the other side, whatever its status, with its body in `bytes`.
    /// - Throws: ``TransportError`` when no complete response came; cancellation of the task is one.
    func send(_ request: Request) async throws(TransportError) -> Response

    /// Sends `request` to pass its answer on: the head as soon as it is here, and with it a stream
    /// that is filled while the body arrives, as fast as its reader takes it. The bytes are those on
    /// the wire, encoded or not; a body that breaks off fails the stream.
    /// - Throws: ``TransportError`` when no head came.
    func open(_ request: Request) async throws(TransportError) -> Response
}

extension HTTPTransport {
    /// The whole response at once, for transports without a wire.
    public func open(_ request: Request) async throws(TransportError) -> Response {
        try await send(request)
    }
}

/// Why no complete response came, and how far the request had got.
public struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// How far the request got. Only ``notSent`` proves that the backend cannot have acted on it.
    public enum Reach: String, Sendable, Hashable {
        /// Failed before a byte of the request was sent: name resolution, connection, TLS.
        case notSent
        /// Bytes of the request left this machine; the backend may have acted on it.
        case maybeSent
    }
    /// What failed.
    public enum Cause: String, Sendable, Hashable {
        case resolve, connect, tls, timeout, reset, tornBody, tooLarge, redirect, cancelled, invalid
    }
    /// How far the request got.
    public var reach: Reach
    /// What failed.
    public var cause: Cause
    /// One sentence for a person, for example `Could not resolve host: nowhere.invalid`.
    public var message: String

    /// Makes an error.
    public init(reach: Reach, cause: Cause, message: String) {
        self.reach = reach
        self.cause = cause
        self.message = message
    }

    /// The sentence for a person.
    public var description: String { message }
}
