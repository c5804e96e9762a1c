import HTTPMessage

/// One call of ``CurlTransport/send(_:)`` on its way to the loop.
struct Ticket: Sendable {
    /// Counts up; names the call when it is cancelled.
    var id: UInt64
    /// What to send.
    var plan: RequestPlan
    /// Who waits. Whoever takes the ticket out of the mailbox resumes it exactly once.
    var waiter: CheckedContinuation<Result<Response, TransportError>, Never>
}
