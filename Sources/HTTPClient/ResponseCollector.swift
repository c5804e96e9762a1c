import CCurl
import HTTPMessage
import HTTPTypes

/// Builds a response from libcurl's head lines and body pieces, within limits.
struct ResponseCollector {
    /// The result of adding a line or piece.
    enum Intake: Equatable {
        case taken
        case tooLarge
        case malformed
    }
    private enum Phase {
        case statusLine, fields, body
    }

    private let headLimitBytes: Int
    private let bodyLimitBytes: Int
    private var phase = Phase.statusLine
    /// The bytes of the head so far, 1xx heads before it included; then those of the trailer.
    private var headBytes = 0
    private var head = HTTPResponse(status: .init(code: 0))
    private var body: [UInt8] = []
    /// The bytes of a streamed body so far.
    private var passedBytes = 0
    /// The result of the first line or piece that was not taken; nil if all were.
    private(set) var refusal: Intake?

    /// Makes a collector.
    /// - Parameter headLimitBytes: the limit of the head, and of a trailer, which has it for itself.
    init(headLimitBytes: Int, bodyLimitBytes: Int) {
        self.headLimitBytes = headLimitBytes
        self.bodyLimitBytes = bodyLimitBytes
    }

    /// Whether the empty line that ends the head of a final (not 1xx) response was seen.
    var isHeadComplete: Bool {
        phase == .body
    }

    /// Takes one line of a head with its line end.
    mutating func take(headLine line: [UInt8]) -> Intake {
        headBytes += line.count
        guard headBytes <= headLimitBytes else { return refuse(.tooLarge) }
        let text = line.trimmed
        switch phase {
        case .statusLine:
            guard let status = Self.status(text) else { return refuse(.malformed) }
            head = HTTPResponse(status: status)
            phase = .fields
        case .fields where line.allSatisfy({ $0 == 0x0D || $0 == 0x0A }):
            guard hasOneLength else { return refuse(.malformed) }
            phase = head.status.kind == .informational ? .statusLine : .body
            if isHeadComplete { headBytes = 0 }
        case .fields:
            takeField(text, isFolded: line.first == 0x20 || line.first == 0x09)
        case .body:
            break  // A trailer of a chunked body is not used.
        }
        return .taken
    }

    /// Whether a body may come: not before the end of a final head. If not, the response is refused.
    mutating func mayHaveBody() -> Bool {
        if !isHeadComplete { _ = refuse(.malformed) }
        return isHeadComplete
    }

    /// Takes a piece of the decoded body.
    mutating func take(body piece: some Collection<UInt8>) -> Intake {
        guard piece.count <= bodyLimitBytes - body.count else { return refuse(.tooLarge) }
        body.append(contentsOf: piece)
        return .taken
    }

    /// Whether a streamed body may have `bytes` more bytes. If not, the response is refused.
    mutating func hasRoom(for bytes: Int) -> Bool {
        guard bytes <= bodyLimitBytes - passedBytes else {
            _ = refuse(.tooLarge)
            return false
        }
        return true
    }

    /// Counts bytes of a streamed body.
    mutating func passed(bytes: Int) { passedBytes += bytes }

    /// The response, once it is whole.
    /// - Parameter decoded: whether libcurl decoded the body. Then the fields on the encoded bytes are left
    ///   out.
    func response(decoded: Bool) -> Response {
        var head = head
        if decoded, head.headerFields[.contentEncoding] != nil {
            head.headerFields[.contentEncoding] = nil
            head.headerFields[.contentLength] = nil
        }
        return Response(head: head, body: body)
    }

    /// Whether the head does not announce two lengths for one body (RFC 9112, section 6.3).
    private var hasOneLength: Bool {
        let fields = head.headerFields
        return fields[.transferEncoding] != nil || Set(fields[values: .contentLength]).count <= 1
    }

    private mutating func refuse(_ why: Intake) -> Intake {
        refusal = refusal ?? why
        return why
    }

    /// A line without a usable name is dropped; a folded line continues the field before it.
    private mutating func takeField(_ text: ArraySlice<UInt8>, isFolded: Bool) {
        if isFolded {
            guard let last = head.headerFields.last, !text.isEmpty else { return }
            let value = Array(last.value.utf8) + [0x20] + text
            let end = head.headerFields.index(before: head.headerFields.endIndex)
            head.headerFields[end] = HTTPField(name: last.name, lenientValue: value)
            return
        }
        guard let colon = text.firstIndex(of: 0x3A),
            let name = HTTPField.Name(String(decoding: text[..<colon], as: UTF8.self))
        else { return }
        let value = Array(text[(colon + 1)...]).trimmed
        head.headerFields.append(HTTPField(name: name, lenientValue: value))
    }

    /// `HTTP/1.1 404 Not Found` or `HTTP/2 404`.
    private static func status(_ text: ArraySlice<UInt8>) -> HTTPResponse.Status? {
        let parts = String(decoding: text, as: UTF8.self)
            .split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0].hasPrefix("HTTP/"), parts[1].utf8.count == 3,
            let code = Int(parts[1]), (100...999).contains(code)
        else { return nil }
        guard parts.count == 3, !parts[2].isEmpty else { return .init(code: code) }
        return .init(code: code, reasonPhrase: String(parts[2]))
    }
}

extension [UInt8] {
    /// The bytes without spaces, tabs and line ends at either side.
    fileprivate var trimmed: ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0D, 0x0A].contains(byte) }
        guard let first = firstIndex(where: { !isBlank($0) }),
            let last = lastIndex(where: { !isBlank($0) })
        else { return [] }
        return self[first...last]
    }
}

/// The end of a transfer, and the result for the caller.
struct TransferEnd {
    /// libcurl's result.
    var code: CURLcode
    /// libcurl's sentence for the result.
    var message: String
    /// Whether the request was sent.
    var gate: SendGate
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
        case CURLE_PEER_FAILED_VERIFICATION: .untrusted
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM,
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
