public import HTTPTypes

/// Is told of requests that are over.
public protocol RequestObserver: Sendable {
    /// Whether it wants to be told of a request that begins now. Asked for each one on the server's
    /// threads, so it must cost next to nothing.
    var isWatching: Bool { get }
    /// Takes a request that is over. Called on the server's threads.
    func ended(_ request: EndedRequest)
}

/// A request that is over, and what it was answered.
public struct EndedRequest: Sendable {
    /// The request's head; nil when the server refused it or could not read it.
    public var head: HTTPRequest?
    /// The status of the answer; nil when there was none, or libmicrohttpd's own.
    public var status: HTTPResponse.Status?
    /// The bytes of the answer's body, of a streamed one those that were sent.
    public var bodyBytes: Int
    /// From the request's first line until the answer was sent or the connection was gone.
    public var duration: Duration
    /// Whether the answer was sent to its end.
    public var isWhole: Bool

    /// Makes one from its parts.
    public init(
        head: HTTPRequest?, status: HTTPResponse.Status?, bodyBytes: Int, duration: Duration,
        isWhole: Bool
    ) {
        self.head = head
        self.status = status
        self.bodyBytes = bodyBytes
        self.duration = duration
        self.isWhole = isWhole
    }
}

/// What an observer will be told of a request, collected while it is answered. There is one only
/// while an observer watches. Not Sendable: it lives on its connection's thread.
final class RequestRecord {
    private let began = ContinuousClock.now
    /// The head, once it was read and passed the wire rules.
    var head: HTTPRequest?
    /// The answer that was handed to libmicrohttpd last.
    private var status: HTTPResponse.Status?
    private var bodyBytes = 0

    /// Notes an answer.
    func answered(_ status: HTTPResponse.Status, bodyBytes: Int) {
        (self.status, self.bodyBytes) = (status, bodyBytes)
    }

    /// The request as it ends now.
    /// - Parameter streamedBytes: those of a body that was sent as it was written.
    func ended(streamedBytes: Int, isWhole: Bool) -> EndedRequest {
        EndedRequest(
            head: head, status: status, bodyBytes: bodyBytes + streamedBytes,
            duration: began.duration(to: .now), isWhole: isWhole)
    }
}
