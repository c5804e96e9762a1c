/// Decides, each time a connection is ready, whether the request may be written to it, and so knows
/// whether a byte of it can have been sent.
///
/// libcurl sends a request again on a fresh connection, up to five times and whatever its method,
/// when a reused connection closed before a byte of the answer came (`Curl_retry_request`); 7.88 has
/// no option against that. For a server that did the work and then crashed that is a second effect.
/// But libcurl asks before every writing of a request head (`CURLOPT_PREREQFUNCTION`), retries
/// included. So the gate opens once for a request that is not safe (RFC 9110, 9.2.1), and a retry of
/// one is stopped before its first byte. `PUT` and `DELETE` count as unsafe here: sent twice with
/// `If-Match`, the second answer would be a refusal of what the first one did.
struct SendGate: Equatable {
    /// What has come to pass.
    enum State: Equatable {
        /// No connection was ready yet: not a byte was sent.
        case closed
        /// The request was let out, this many times.
        case opened(times: Int)
        /// The request was let out once, and its repetition was stopped.
        case repetitionStopped
    }

    /// Whether the method is safe, so that sending it twice has no second effect.
    let isSafe: Bool
    private(set) var state = State.closed

    init(isSafe: Bool) {
        self.isSafe = isSafe
    }

    /// A connection is ready. Returns whether the request may be written to it.
    mutating func admit() -> Bool {
        switch state {
        case .closed:
            state = .opened(times: 1)
            return true
        case .opened(let times) where isSafe:
            state = .opened(times: times + 1)
            return true
        case .opened, .repetitionStopped:
            state = .repetitionStopped
            return false
        }
    }
}
