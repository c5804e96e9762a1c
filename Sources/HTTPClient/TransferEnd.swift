import CCurl
import HTTPMessage

/// The end of a transfer, and the result for the caller.
struct TransferEnd {
    /// libcurl's result.
    var code: CURLcode
    /// libcurl's sentence for the result.
    var message: String
    /// Whether the request was sent.
    var gate: SendGate
    /// The response so far.
    var collector: ResponseCollector
    /// Whether libcurl decoded the body.
    var decoded: Bool

    /// The response, or why there is none.
    ///
    /// 1. A refusal by the collector (too large, malformed) comes before libcurl's result.
    /// 2. A blocked retry means that the connection closed without an answer, and so does a retry whose
    ///    streamed body cannot be sent from its beginning.
    /// 3. A success needs a whole head: libcurl reports success for a head that was cut short.
    /// 4. Otherwise libcurl's result decides. The reach comes from the gate alone.
    var result: Result<Response, TransportError> {
        switch collector.refusal {
        case .tooLarge: return failure(.tooLarge, "The response is larger than allowed.")
        case .malformed: return failure(.invalid, "The head of the response is not proper HTTP.")
        case .taken, nil: break
        }
        if gate.state == .retryBlocked || code == CURLE_SEND_FAIL_REWIND {
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
        case .unsent: .notSent
        case .sent, .retryBlocked: .maybeSent
        }
    }
}

/// Decides whether a request may be written to a connection, each time one is ready. So it also knows whether
/// a byte of the request can have been sent.
///
/// libcurl sends a request again on a fresh connection, up to five times and whatever its method, when a
/// reused connection closed before a byte of the answer came (`Curl_retry_request`). 7.88 has no option
/// against that. If the server did the work and then crashed, the retry has a second effect. libcurl calls
/// `CURLOPT_PREREQFUNCTION` before it writes a request head, also for a retry. So an unsafe request (RFC
/// 9110, 9.2.1) is admitted once, and its retry is blocked before its first byte. `PUT` and `DELETE` count
/// as unsafe: with `If-Match`, the answer to the second one would be a refusal.
struct SendGate: Equatable {
    /// What was sent.
    enum State: Equatable {
        /// No connection was ready yet: not a byte was sent.
        case unsent
        /// The request was admitted, this many times.
        case sent(times: Int)
        /// The request was admitted once, and its retry was blocked.
        case retryBlocked
    }

    /// Whether the method is safe, so that sending it twice has no second effect.
    let isSafe: Bool
    private(set) var state = State.unsent

    init(isSafe: Bool) {
        self.isSafe = isSafe
    }

    /// Decides for a connection that is ready.
    /// - Returns: whether the request may be written to it.
    mutating func admit() -> Bool {
        switch state {
        case .unsent:
            state = .sent(times: 1)
            return true
        case .sent(let times) where isSafe:
            state = .sent(times: times + 1)
            return true
        case .sent, .retryBlocked:
            state = .retryBlocked
            return false
        }
    }
}
