import CCurl
import HTTPMessage

/// How a transfer ended, and what that means for the caller.
struct TransferEnd {
    /// libcurl's verdict.
    var code: CURLcode
    /// libcurl's sentence on it.
    var message: String
    /// What the gate let out.
    var gate: SendGate
    /// What came back.
    var collector: ResponseCollector
    /// Whether the body was decoded, so that the fields on its encoding no longer hold.
    var decoded: Bool

    /// The response, or why there is none.
    ///
    /// 1. What this side refused (too large, malformed) is the reason, whatever libcurl made of it.
    /// 2. A stopped repetition means that the connection closed without an answer.
    /// 3. Success counts only with a whole head: libcurl takes one that was cut short for success.
    /// 4. Everything else is libcurl's verdict; the reach comes from the gate alone.
    var result: Result<Response, TransportError> {
        switch collector.refusal {
        case .tooLarge: return failure(.tooLarge, "The response is larger than allowed.")
        case .malformed: return failure(.invalid, "The response does not begin as HTTP does.")
        case .taken, nil: break
        }
        if gate.state == .repetitionStopped {
            return failure(.reset, "The connection closed before an answer came.")
        }
        guard code == CURLE_OK else { return failure(cause, message) }
        guard collector.isHeadComplete else {
            return failure(.tornBody, "The connection closed within the head of the response.")
        }
        return .success(collector.response(decoded: decoded))
    }

    private func failure(
        _ cause: TransportError.Cause, _ message: String
    ) -> Result<Response, TransportError> {
        .failure(TransportError(reach: gate.reach, cause: cause, message: message))
    }

    private var cause: TransportError.Cause {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .resolve
        case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_INTERFACE_FAILED: .connect
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_CRL_BADFILE, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ENGINE_INITFAILED,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_CLIENTCERT, CURLE_USE_SSL_FAILED:
            .tls
        case CURLE_OPERATION_TIMEDOUT: .timeout
        case CURLE_PARTIAL_FILE, CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR: .tornBody
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2,
            CURLE_HTTP2_STREAM, CURLE_AGAIN:
            collector.isHeadComplete ? .tornBody : .reset
        default: .invalid
        }
    }
}

extension SendGate {
    /// How far the request got.
    var reach: TransportError.Reach {
        switch state {
        case .closed: .notSent
        case .opened, .repetitionStopped: .maybeSent
        }
    }
}

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
