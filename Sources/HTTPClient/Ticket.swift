import HTTPMessage

/// One call of ``CurlTransport/send(_:)`` on its way to the loop.
struct Ticket: Sendable {
    /// Counts up; names the call when it is cancelled.
    var id: UInt64
    /// What to send.
    var plan: RequestPlan
    /// The body to send, where it is not in the plan.
    var upload: ByteStream?
    /// Whether the caller gets the head first and the body as a stream.
    var isStreamed: Bool
    /// When its time is over; for a stream, the time to wait for a connection's turn.
    var deadline: ContinuousClock.Instant
    /// Who waits. Whoever takes the ticket out of the mailbox resumes it exactly once.
    var waiter: CheckedContinuation<Result<Response, TransportError>, Never>

    /// Answers the call with a failure before anything was sent.
    func fail(_ cause: TransportError.Cause, _ message: String) {
        let error = TransportError(reach: .notSent, cause: cause, message: message)
        waiter.resume(returning: .failure(error))
    }
}
