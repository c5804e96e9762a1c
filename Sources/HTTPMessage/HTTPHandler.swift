public import HTTPTypes

/// Answers requests. The server calls it on its own threads, never on Swift's cooperative pool. An
/// implementation may read a store there, but must not wait: for that it returns ``Answer/later(_:)``.
public protocol HTTPHandler: Sendable {
    /// Reads the head of a request, once. `request.body` is empty.
    /// - Returns: what answers this request.
    func read(_ request: Request) -> any RequestHandler
}

/// Answers one request, whose head it has read.
public protocol RequestHandler: Sendable {
    /// Decides by the head alone, before a byte of the body is read. `request.body` is empty.
    func admit(_ request: Request) -> Admission
    /// Answers the request. Called once if it was admitted.
    func handle(_ request: Request) -> Answer
    /// The answer to an accepted request whose body is longer than ``Admission`` allows; nil for the answer
    /// of ``RefusalReason/bodyTooLarge``.
    func tooLarge(_ request: Request) -> Response?
    /// Called once when the request has ended, on a thread of the server.
    /// - Parameters:
    ///   - status: the status of the answer; nil if there was none.
    ///   - time: from the request's first line until the answer was sent or the connection closed.
    func ended(status: HTTPResponse.Status?, took time: Duration)
}

extension RequestHandler {
    /// The answer of ``RefusalReason/bodyTooLarge``.
    public func tooLarge(_ request: Request) -> Response? { nil }

    public func ended(status: HTTPResponse.Status?, took time: Duration) {}
}

extension HTTPHandler where Self: RequestHandler {
    /// This handler, for a server whose requests have nothing of their own to remember.
    public func read(_ request: Request) -> any RequestHandler { self }
}

/// How the server goes on after the head of a request.
public enum Admission: Sendable {
    /// Read the body up to this many bytes; a longer one is answered 413 and the connection closes.
    case accept(bodyLimitBytes: Int)
    /// Handle the request at once, with ``Request/bodyStream`` for the body, up to this many bytes. A longer
    /// body fails the stream and is answered 413. A request without a body is handled as after
    /// ``accept(bodyLimitBytes:)``.
    case stream(bodyLimitBytes: Int)
    /// Answer at once without reading the body.
    case refuse(Response)
}

/// How a request is answered.
public enum Answer: Sendable {
    case now(Response)
    /// The closure is called and the connection is suspended until the reply is called, once, from any
    /// thread. No thread waits meanwhile.
    case later(@Sendable (Reply) -> Void)
}

/// The reply to one suspended request; the first call answers it.
///
/// A server that stops answers 503, which says that nothing was done. So a handler calls
/// ``tryBeginChange()`` before it changes something, and ``endChange(answerOnStop:)`` after the change if it
/// then waits for something else.
public struct Reply: Sendable {
    private let complete: @Sendable (Response) -> Void
    private let begin: @Sendable () -> Bool
    private let end: @Sendable (Response) -> Void
    private let left: @Sendable () -> Bool

    /// Makes a reply.
    /// - Parameters:
    ///   - complete: takes the response.
    ///   - tryBeginChange: see ``tryBeginChange()``.
    ///   - endChange: see ``endChange(answerOnStop:)``.
    ///   - clientHasLeft: see ``clientHasLeft``.
    public init(
        _ complete: @escaping @Sendable (Response) -> Void,
        tryBeginChange: @escaping @Sendable () -> Bool = { true },
        endChange: @escaping @Sendable (Response) -> Void = { _ in },
        clientHasLeft: @escaping @Sendable () -> Bool = { false }
    ) {
        self.complete = complete
        begin = tryBeginChange
        end = endChange
        left = clientHasLeft
    }

    /// Whether work on the answer is in vain: the client has closed its side of the connection, or the
    /// request is answered. Asks the system, from any thread; it takes about a microsecond.
    public var clientHasLeft: Bool { left() }

    /// Begins a change that the answer reports. A server that stops waits for that answer, for a short time.
    /// - Returns: false when the server is stopping; then the request is answered and the change must not be
    ///   made.
    public func tryBeginChange() -> Bool { begin() }

    /// Ends the change, while the reply waits for something else. A server that stops answers `response` from
    /// now on.
    public func endChange(answerOnStop response: Response) { end(response) }

    /// A reply that changes each response and passes it to this one.
    public func map(_ change: @escaping @Sendable (Response) -> Response) -> Reply {
        Reply(
            { complete(change($0)) }, tryBeginChange: begin, endChange: { end(change($0)) },
            clientHasLeft: left)
    }

    /// A reply for the same request whose response goes to `complete`, which answers this one.
    public func intercepted(
        _ complete: @escaping @Sendable (Response) -> Void
    ) -> Reply {
        Reply(complete, tryBeginChange: begin, endChange: end, clientHasLeft: left)
    }

    /// Sends the response. A second call does nothing.
    public func callAsFunction(_ response: Response) {
        complete(response)
    }
}

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
    public enum Cause: String, Sendable, Hashable {
        case resolve, connect, tls, timeout, reset, tornBody, tooLarge, redirect, cancelled, invalid
        /// The certificate of the server is not trusted.
        case untrusted
    }
    /// How far the request got.
    public var reach: Reach
    public var cause: Cause
    /// One sentence for a person, for example `Could not resolve host: nowhere.invalid`.
    public var message: String

    public init(reach: Reach, cause: Cause, message: String) {
        self.reach = reach
        self.cause = cause
        self.message = message
    }

    public var description: String { message }
}
