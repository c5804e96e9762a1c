import CCurl
import HTTPMessage

/// One request in libcurl: an easy handle, the memory that it borrows, and the object of its callbacks.
///
/// Only the loop's thread uses it. libcurl holds unretained pointers to this object. ``CurlLoop`` keeps a
/// reference until it has removed the handle from the multi handle, and then calls ``close()``.
@safe final class Transfer {
    let id: UInt64
    let host: String
    private let waiter: CheckedContinuation<Result<Response, TransportError>, Never>
    /// The request's body; nil if the plan has it.
    private let upload: ByteStream?
    /// Receives the body as it arrives; nil if the caller gets the whole response.
    let stream: ByteStream?
    private var isAnswered = false
    /// Owned; freed by ``close()``.
    let easy: UnsafeMutableRawPointer
    var gate: SendGate
    var collector: ResponseCollector

    /// Called on the loop's thread when the transfer pauses: it waits for its caller.
    var onPause: () -> Void = {}

    /// Called on any thread when a paused transfer can go on.
    var onReady: @Sendable () -> Void = {}

    /// The connection that the transfer uses.
    private enum Choice {
        /// A kept one or a new one, as libcurl decides.
        case any
        /// None: input waited on the kept one that libcurl chose, so the transfer was ended.
        case refused
        case fresh
    }
    private let connections: KeptConnections
    private var choice = Choice.any

    private let decodes: Bool
    /// Owned; borrowed by `easy`; freed by ``close()``.
    private let errorBuffer: UnsafeMutablePointer<CChar>
    /// Owned; borrowed by `easy`; freed by ``close()``.
    private var fieldList: UnsafeMutablePointer<curl_slist>?
    private var isClosed = false

    /// Makes a handle that is ready to be added to the multi handle.
    /// - Throws: ``TransportError`` with reach `notSent` when libcurl refuses an option.
    init(
        _ call: PendingCall, configuration: ClientConfiguration, connections: KeptConnections
    ) throws(TransportError) {
        guard let easy = unsafe curl_easy_init() else {
            throw .invalid("libcurl has no memory for another request.")
        }
        id = call.id
        host = call.plan.url
        waiter = call.waiter
        upload = call.upload
        stream = call.isStreamed ? ByteStream() : nil
        unsafe self.easy = easy
        self.connections = connections
        gate = SendGate(isSafe: call.plan.isSafe)
        collector = ResponseCollector(
            headLimitBytes: configuration.responseHeadLimitBytes,
            bodyLimitBytes: call.isStreamed
                ? configuration.streamedBodyLimitBytes : configuration.responseBodyLimitBytes)
        decodes = call.plan.decodes && call.plan.method != "HEAD"
        unsafe errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        do {
            try setBase(configuration)
            try setTimes(configuration, left: call.isStreamed ? nil : call.deadline - .now)
            try setSecurity(configuration)
            try setRequest(call.plan)
            try setCallbacks()
        } catch {
            close()
            throw error
        }
    }

    deinit {
        precondition(isClosed, "a transfer is closed before it is released")
    }

    /// Frees what the transfer owns. The handle must have left the multi handle. Idempotent.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        // The rest of the request's body is not sent.
        upload?.cancel()
        unsafe curl_easy_cleanup(easy)
        unsafe curl_slist_free_all(fieldList)
        unsafe errorBuffer.deallocate()
    }

    /// Answers the caller, or ends the stream of a caller that has its answer.
    func answer(_ result: Result<Response, TransportError>) {
        if !isAnswered {
            isAnswered = true
            return waiter.resume(returning: result)
        }
        switch result {
        case .success: stream?.finish()
        case .failure: stream?.fail()
        }
    }

    /// Decides for a connection that is ready.
    /// - Returns: whether the request may be written to it. If not, libcurl ends the transfer.
    func admit(localPort: Int32) -> Bool {
        if case .any = choice, let port = UInt16(exactly: localPort),
            connections.hasInput(localPort: port)
        {
            choice = .refused
            return false
        }
        return gate.admit()
    }

    /// Prepares a transfer that has ended, because input waited on its connection, for a fresh one. Nothing
    /// of the request was written to that connection, and no byte of the body was read.
    /// - Returns: false for a transfer that ended for another reason.
    func tryPrepareFresh() throws(TransportError) -> Bool {
        guard case .refused = choice else { return false }
        choice = .fresh
        unsafe errorBuffer.pointee = 0
        try setFreshConnection()
        return true
    }

    /// Notes the connection of a transfer that has ended, if libcurl keeps it. One of HTTP/2 is left
    /// out: its frames name their request, and may come at any time.
    func noteConnection() {
        var socket: curl_socket_t = -1
        var version = 0
        // Safe: libcurl writes one value to each of the two, which live until it returns.
        guard unsafe understudy_easy_get_socket(easy, &socket) == CURLE_OK, socket >= 0,
            unsafe understudy_easy_get_http_version(easy, &version) == CURLE_OK
        else { return }
        switch version {
        case CURL_HTTP_VERSION_1_0, CURL_HTTP_VERSION_1_1: connections.note(socket)
        case CURL_HTTP_VERSION_2_0: connections.forget(socket)
        default: break
        }
    }

    /// The result of adding a piece of the body.
    enum BodyIntake {
        case taken
        case refused
        /// The stream is full; ``CurlLoop`` continues when it can be written.
        case full
    }

    /// Adds a piece of the body to the response or to the stream.
    func take(body piece: UnsafeRawBufferPointer) -> BodyIntake {
        guard collector.mayHaveBody() else { return .refused }
        guard let stream else {
            return unsafe collector.take(body: piece) == .taken ? .taken : .refused
        }
        if !isAnswered {
            let head = collector.response(decoded: false).head
            answer(.success(Response(head: head, stream: stream)))
        }
        guard collector.hasRoom(for: piece.count) else { return .refused }
        guard unsafe stream.write(Array(piece)) else { return .full }
        collector.passed(bytes: piece.count)
        return .taken
    }

    /// The next piece of the request's body. After ``ByteStream/Chunk/wait``, ``onReady`` is called when
    /// there is one.
    func nextPiece(maxBytes: Int) -> ByteStream.Chunk {
        let piece = upload?.read(maxBytes: maxBytes, wake: onReady) ?? .end
        if piece == .wait { onPause() }
        return piece
    }

    /// Pauses; ``onReady`` is called when the stream can be written.
    func pauseUntilWritable() {
        onPause()
        stream?.onWritable(onReady)
    }

    /// The end of the transfer with libcurl's result `code`. Safe: the error buffer ends with a NUL.
    func end(_ code: CURLcode) -> TransferEnd {
        let detail = unsafe String(cString: errorBuffer)
        let message = detail.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : detail
        return TransferEnd(
            code: code, message: message, gate: gate, collector: collector, decoded: decodes)
    }

    /// A failure that this program decided.
    func failure(
        _ cause: TransportError.Cause, _ message: String
    ) -> Result<Response, TransportError> {
        .failure(TransportError(reach: gate.reach, cause: cause, message: message))
    }

    /// Adds a line to the list of fields.
    func append(fieldLine line: [UInt8]) throws(TransportError) {
        // Safe: libcurl copies the text, which ends with the NUL added here.
        let longer = unsafe (line + [0]).withUnsafeBytes { bytes in
            unsafe curl_slist_append(
                fieldList, bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
        }
        guard let longer = unsafe longer else { throw .invalid("libcurl has no memory left.") }
        unsafe fieldList = longer
    }

    /// Sets the list of fields and the error buffer, which libcurl borrows until ``close()``.
    func setBorrowedMemory() throws(TransportError) {
        try check(unsafe understudy_easy_set_fields(easy, fieldList))
        try check(unsafe understudy_easy_set_error_buffer(easy, errorBuffer))
    }
}

extension Transfer {
    /// The options of every request.
    func setBase(_ configuration: ClientConfiguration) throws(TransportError) {
        try set(CURLOPT_NOSIGNAL, 1)
        // Without it, closing a transfer during name resolution blocks the loop until the resolver ends. With
        // it, the resolver's thread ends by itself.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        try set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // An empty name means no proxy, and keeps libcurl from reading the environment.
        try set(CURLOPT_PROXY, configuration.proxy ?? "")
        if let path = configuration.unixSocket { try set(CURLOPT_UNIX_SOCKET_PATH, path) }
        try set(CURLOPT_USERAGENT, configuration.userAgent)
    }

    /// The time limits.
    /// - Parameter left: the rest of the request's time; nil for a streamed one, which has no such limit.
    func setTimes(
        _ configuration: ClientConfiguration, left: Duration?
    ) throws(TransportError) {
        try set(CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeout.curlMilliseconds)
        if let left { try set(CURLOPT_TIMEOUT_MS, left.curlMilliseconds) }
        try set(CURLOPT_LOW_SPEED_LIMIT, Limits.stalledBytesEachSecond)
        try set(
            CURLOPT_LOW_SPEED_TIME,
            left == nil ? Limits.streamStallSeconds : configuration.stallTimeout.wholeSecondsUp)
    }

    /// TLS: always verified, at least 1.2.
    func setSecurity(_ configuration: ClientConfiguration) throws(TransportError) {
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        try set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        if let file = configuration.certificateAuthorityFile { try set(CURLOPT_CAINFO, file) }
        if let file = configuration.clientCertificateFile { try set(CURLOPT_SSLCERT, file) }
        if let file = configuration.clientKeyFile { try set(CURLOPT_SSLKEY, file) }
    }

    /// Address, method, fields and body.
    func setRequest(_ plan: RequestPlan) throws(TransportError) {
        try set(CURLOPT_URL, plan.url)
        try set(CURLOPT_PATH_AS_IS, 1)
        try set(CURLOPT_REQUEST_TARGET, plan.target)
        if plan.decodes { try set(CURLOPT_ACCEPT_ENCODING, "") }
        try set(
            CURLOPT_MAXAGE_CONN,
            plan.isSafe
                ? Limits.idleSecondsForSafeRequest : Limits.idleSecondsForUnsafeRequest)
        if plan.method == "HEAD" {
            try set(CURLOPT_NOBODY, 1)
            // A backend that answers it as GET sends a body, which may come after the next request.
            try set(CURLOPT_FORBID_REUSE, 1)
        }
        switch plan.body {
        case .none: break
        case .bytes(let bytes): try setBody(bytes)
        case .stream(let length):
            try set(CURLOPT_UPLOAD, 1)
            // -1 is an unknown length.
            let size = curl_off_t(length ?? -1)
            try check(unsafe understudy_easy_set_size(easy, CURLOPT_INFILESIZE_LARGE, size))
        }
        try set(CURLOPT_CUSTOMREQUEST, plan.method)
        for line in plan.fieldLines { try append(fieldLine: line) }
        try setBorrowedMemory()
    }

    /// Lets the transfer use no connection but a new one.
    func setFreshConnection() throws(TransportError) { try set(CURLOPT_FRESH_CONNECT, 1) }

    /// libcurl copies the bytes, so that it can send a safe request again by itself.
    private func setBody(_ bytes: [UInt8]) throws(TransportError) {
        let size = curl_off_t(bytes.count)
        try check(unsafe understudy_easy_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, size))
        // Safe: libcurl copies exactly `size` bytes before it returns; none when there are none.
        let code = unsafe bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else {
                return unsafe understudy_easy_set_text(easy, CURLOPT_COPYPOSTFIELDS, "")
            }
            return unsafe understudy_easy_set_text(
                easy, CURLOPT_COPYPOSTFIELDS, base.assumingMemoryBound(to: CChar.self))
        }
        try check(code)
    }

    private func set(_ option: CURLoption, _ value: Int) throws(TransportError) {
        try check(unsafe understudy_easy_set_long(easy, option, value))
    }

    private func set(_ option: CURLoption, _ value: String) throws(TransportError) {
        // A NUL would end the text.
        guard !value.utf8.contains(0) else { throw .invalid("A setting holds a NUL byte.") }
        try check(unsafe understudy_easy_set_text(easy, option, value))
    }

    /// Turns libcurl's refusal of an option into an error.
    func check(_ code: CURLcode) throws(TransportError) {
        guard code == CURLE_OK else {
            throw .invalid(unsafe String(cString: curl_easy_strerror(code)))
        }
    }
}

extension Duration {
    /// Milliseconds, at least 1: libcurl takes 0 for "no limit".
    var curlMilliseconds: Int {
        let (seconds, attoseconds) = components
        return max(1, Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000))
    }

    /// Seconds, rounded up, at least 1.
    fileprivate var wholeSecondsUp: Int {
        max(1, (curlMilliseconds + 999) / 1_000)
    }
}
