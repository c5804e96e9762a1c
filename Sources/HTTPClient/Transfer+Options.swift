import CCurl
import HTTPMessage

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
