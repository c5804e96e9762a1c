import HTTPTypes

/// What an observer will be told of a request, collected while it is answered. There is one only
/// while somebody watches. Not Sendable: it lives on its connection's thread.
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
