/// Sends requests to the backend. Every request of this program to the network goes through it.
///
/// The program uses libcurl. Tests call a backend in their own process, with or without faults.
public protocol HTTPTransport: Sendable {
    /// Sends `request`. Its head must have scheme, authority and path.
    /// - Returns: the response, whatever its status, with its body in `bytes`.
    /// - Throws: ``TransportError`` when no complete response came, also when the task is cancelled.
    func send(_ request: Request) async throws(TransportError) -> Response

    /// Sends `request` for a response that is passed on. It returns when the head has arrived.
    /// - Returns: the response with a stream that is filled while the body arrives, as fast as its reader
    ///   takes it. The bytes are those on the wire, encoded or not. An incomplete body fails the stream.
    /// - Throws: ``TransportError`` when no head came.
    func open(_ request: Request) async throws(TransportError) -> Response
}

extension HTTPTransport {
    /// Sends `request` as ``send(_:)`` does, for transports that have no stream.
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
