public import HTTPTypes

/// Receives each request that has ended.
public protocol RequestObserver: Sendable {
    /// Whether a request that begins now will be reported. Read for each request on the server's threads, so
    /// it must be cheap.
    var isWatching: Bool { get }
    /// Receives a request that has ended. Called on the server's threads.
    func ended(_ request: EndedRequest)
}

/// A request that has ended, with the status and size of its answer.
public struct EndedRequest: Sendable {
    /// The request's head; nil when the server refused it or could not read it.
    public var head: HTTPRequest?
    /// The status of the answer; nil when there was none, or libmicrohttpd answered by itself.
    public var status: HTTPResponse.Status?
    /// The bytes of the answer's body; of a streamed one, those that were sent.
    public var bodyBytes: Int
    /// The time from the request's first line until the answer was sent or the connection closed.
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

/// Collects an ``EndedRequest`` while the request is answered.
struct RequestRecord {
    private let began = ContinuousClock.now
    /// The head, once it was read and passed the wire rules.
    var head: HTTPRequest?
    /// The answer that was handed to libmicrohttpd last.
    private var status: HTTPResponse.Status?
    private var bodyBytes = 0

    /// Records an answer.
    mutating func answered(_ status: HTTPResponse.Status, bodyBytes: Int) {
        (self.status, self.bodyBytes) = (status, bodyBytes)
    }

    /// The request, ended now.
    /// - Parameter streamedBytes: the bytes that were sent of a streamed body.
    func ended(streamedBytes: Int, isWhole: Bool) -> EndedRequest {
        EndedRequest(
            head: head, status: status, bodyBytes: bodyBytes + streamedBytes,
            duration: began.duration(to: .now), isWhole: isWhole)
    }
}
