/// Answers requests. The server calls it on its own threads, never on Swift's cooperative pool, so
/// an implementation may read synchronously but must not wait: what has to wait is answered later.
public protocol HTTPHandler: Sendable {
    /// Decides on the head alone, before a byte of the body is read. `request.body` is empty here.
    func admit(_ request: Request) -> Admission
    /// Answers a whole request. It is called once for each admitted request.
    func handle(_ request: Request) -> Answer
    /// The answer to an accepted request whose body turned out longer than it may be; nil for the
    /// server's own.
    func tooLarge(_ request: Request) -> Response?
}

extension HTTPHandler {
    /// The server's own answer.
    public func tooLarge(_ request: Request) -> Response? { nil }
}

/// What becomes of a request once its head is known.
public enum Admission: Sendable {
    /// Read the body up to this many bytes; a longer one is answered 413 and the connection closes.
    case accept(bodyLimitBytes: Int)
    /// Hand the request over at once, with ``Request/bodyStream`` for the body, up to this many bytes;
    /// a longer one fails the stream and is answered 413. A request without a body is handed over
    /// as by ``accept(bodyLimitBytes:)``.
    case stream(bodyLimitBytes: Int)
    /// Answer at once without reading the body.
    case refuse(Response)
}

/// How a request is answered.
public enum Answer: Sendable {
    /// The response is here.
    case now(Response)
    /// The connection is suspended and the closure is called; whoever it hands the reply to calls it
    /// exactly once, from any thread. Nothing waits meanwhile but the client.
    case later(@Sendable (Reply) -> Void)
}

/// The right to answer one suspended request, once.
///
/// A server that stops answers 503 in its place, which says that nothing was done. A handler that changes
/// something therefore asks ``beginsChange()`` first, and calls ``changed(_:)`` where it goes on to wait.
public struct Reply: Sendable {
    private let complete: @Sendable (Response) -> Void
    private let begin: @Sendable () -> Bool
    private let note: @Sendable (Response) -> Void
    private let left: @Sendable () -> Bool

    /// Makes a reply from what the server does with the response.
    /// - Parameters:
    ///   - beginsChange: see ``beginsChange()``.
    ///   - changed: see ``changed(_:)``.
    ///   - isLeft: see ``isLeft``.
    public init(
        _ complete: @escaping @Sendable (Response) -> Void,
        beginsChange: @escaping @Sendable () -> Bool = { true },
        changed: @escaping @Sendable (Response) -> Void = { _ in },
        isLeft: @escaping @Sendable () -> Bool = { false }
    ) {
        self.complete = complete
        begin = beginsChange
        note = changed
        left = isLeft
    }

    /// Whether work on the answer is in vain: the client has closed its side of the connection, or the
    /// request is answered. Asks the system, from any thread; it takes about a microsecond.
    public var isLeft: Bool { left() }

    /// Asks whether a change may begin whose end, which comes soon by itself, is the answer. A server that
    /// stops waits for that answer.
    /// - Returns: false when the server has stopped the waiting; then the change must not be made, and
    ///   the request is answered.
    public func beginsChange() -> Bool { begin() }

    /// Says that the change is made, and that the reply now waits for something else. A server that stops
    /// sends `response` and does not wait.
    public func changed(_ response: Response) { note(response) }

    /// The same reply, for what `change` makes of a response.
    public func map(_ change: @escaping @Sendable (Response) -> Response) -> Reply {
        Reply(
            { complete(change($0)) }, beginsChange: begin, changed: { note(change($0)) },
            isLeft: left)
    }

    /// The same right, where `complete` takes the response instead, and answers itself.
    public func intercepted(
        _ complete: @escaping @Sendable (Response) -> Void
    ) -> Reply {
        Reply(complete, beginsChange: begin, changed: note, isLeft: left)
    }

    /// Sends the response. A second call does nothing.
    public func callAsFunction(_ response: Response) {
        complete(response)
    }
}
