import CCurl
public import HTTPMessage
public import HTTPTypes

/// An ``HTTPTransport`` over libcurl, with one thread and connections that are reused.
///
/// - HTTP/2 where a TLS backend speaks it, HTTP/1.1 otherwise; TLS is always verified.
/// - `head.path` goes out as it stands, byte for byte. `head.authority` is a host with an optional
///   port. `Host`, `Content-Length`, the fields of the connection (`Connection`, `TE`, `Upgrade`, …),
///   `Expect` and `Accept-Encoding` are written by this module: such fields of a request are not sent on.
///   Nothing is added but those and, where missing, `User-Agent`.
/// - Encoded answers are decoded, and then have no `Content-Encoding` and `Content-Length`; a request
///   with `Range` asks for none and gets its answer untouched.
/// - Redirects are returned, not followed. No cookies, no stored credentials, no proxy that was not
///   configured.
/// - A request other than GET, HEAD and OPTIONS is written to a connection at most once.
public final class CurlTransport: HTTPTransport {
    private let commands: CommandQueue
    private let configuration: ClientConfiguration

    /// Starts the thread.
    /// - Throws: ``TransportError`` with cause `invalid` when the system has no more threads or sockets.
    public init(_ configuration: ClientConfiguration = .init()) throws(TransportError) {
        guard let multi = MultiHandle(configuration) else {
            throw .invalid("libcurl could not be started.")
        }
        self.configuration = configuration
        commands = CommandQueue(multi)
        let start = LoopStart(multi: multi, commands: commands, configuration: configuration)
        guard CurlLoop.spawn(start) else {
            multi.free()
            throw .invalid("The system gave no thread for the client.")
        }
    }

    deinit {
        commands.close()
    }

    /// Sends `request` and waits, without blocking a thread, for the whole response.
    /// - Returns: the backend's answer, whatever its status.
    /// - Throws: ``TransportError``. Its reach is ``TransportError/Reach/notSent`` exactly when the request
    ///   was written to no connection. The cause is `cancelled` when the task is cancelled, and when the
    ///   client is stopped.
    public func send(_ request: Request) async throws(TransportError) -> Response {
        let plan = try RequestPlan(request, configuration: configuration)
        return try await send(plan, upload: request.bodyStream, isStreamed: false)
    }

    /// Sends `request` and returns its answer's head with a stream for the body. The time limit of
    /// ``send(_:)`` does not hold; a transfer that moves no byte for ``Limits/streamStallSeconds``
    /// is given up. `Accept-Encoding` goes out as it stands, and the body is left encoded.
    public func open(_ request: Request) async throws(TransportError) -> Response {
        let plan = try RequestPlan(request, configuration: configuration, isRaw: true)
        return try await send(plan, upload: request.bodyStream, isStreamed: true)
    }

    private func send(
        _ plan: RequestPlan, upload: ByteStream?, isStreamed: Bool
    ) async throws(TransportError) -> Response {
        let id = commands.nextID()
        let deadline = ContinuousClock.now + configuration.requestTimeout
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let call = PendingCall(
                    id: id, plan: plan, upload: upload, isStreamed: isStreamed,
                    deadline: deadline, waiter: waiter)
                guard !Task.isCancelled else { return call.fail(.cancelled, "Cancelled.") }
                guard commands.post(.send(call)) else {
                    return call.fail(.cancelled, "The client was stopped.")
                }
                // A cancellation between the two checks above posted its command before the call.
                if Task.isCancelled { _ = commands.post(.cancel(id: id)) }
            }
        } onCancel: {
            _ = commands.post(.cancel(id: id))
        }
        return try result.get()
    }

    /// Ends the thread and blocks until it has ended. All calls fail with cause `cancelled`. A second call
    /// only waits.
    @available(*, noasync, message: "blocks the thread; await the asynchronous stop() instead")
    public func stop() {
        commands.close()
        commands.thread.wait()
    }

    /// Ends the thread and waits, without blocking a thread, until it has ended.
    public func stop() async {
        commands.close()
        await commands.thread.ended()
    }
}

/// The configuration of a ``CurlTransport``.
public struct ClientConfiguration: Sendable, Hashable {
    /// The longest time to open a connection (TCP and TLS).
    public var connectTimeout: Duration
    /// The longest time of ``CurlTransport/send(_:)``, the wait for a free connection included.
    public var requestTimeout: Duration
    /// The longest time without a byte in either direction. Rounded up to whole seconds. libcurl averages
    /// over five seconds, so it may take five more after a busy period.
    public var stallTimeout: Duration
    /// The longest head of a response, all lines together, and the longest trailer. A longer one is refused as
    /// too large.
    public var responseHeadLimitBytes: Int
    /// The largest response body, counted after decoding (gzip and the like).
    public var responseBodyLimitBytes: Int
    /// The longest response body of ``CurlTransport/open(_:)``; a longer one fails its stream.
    public var streamedBodyLimitBytes: Int
    /// Requests at once to one host and port; further ones wait. A transfer that is paused, because it
    /// waits for the reader or the writer of a streamed body, does not count.
    public var maxConnectionsPerHost: Int
    /// Paused transfers at once, over all hosts. For a further one, the one that has been paused for
    /// longest is given up.
    public var maxPausedTransfers: Int
    /// A PEM file with the certificate authorities to trust instead of the system's; nil for those.
    public var certificateAuthorityFile: String?
    /// A PEM file with the client's certificate; nil for none.
    public var clientCertificateFile: String?
    /// A PEM file with the private key to ``clientCertificateFile``, not encrypted.
    public var clientKeyFile: String?
    /// The proxy to go through, for example `http://10.0.0.1:3128`. Nil means none: the variables
    /// `http_proxy`, `https_proxy` and `all_proxy` of the environment are never followed.
    public var proxy: String?
    /// The Unix socket to send every request to, whatever its authority names; nil for the network.
    /// At most 107 bytes.
    public var unixSocket: String?
    /// Sent as `User-Agent` where the request has none.
    public var userAgent: String
    /// Fields of every request, in place of its own of the same names.
    public var fields: HTTPFields = [:]

    /// Makes a configuration; every value has a default.
    public init(
        connectTimeout: Duration = .seconds(Limits.connectSeconds),
        requestTimeout: Duration = .seconds(Limits.requestSeconds),
        stallTimeout: Duration = .seconds(Limits.stallSeconds),
        responseHeadLimitBytes: Int = Limits.responseHeadBytes,
        responseBodyLimitBytes: Int = Limits.responseBodyBytes,
        streamedBodyLimitBytes: Int = Limits.streamedBodyBytes,
        maxConnectionsPerHost: Int = Limits.connectionsPerHost,
        maxPausedTransfers: Int = Limits.pausedTransfers,
        certificateAuthorityFile: String? = nil,
        clientCertificateFile: String? = nil,
        clientKeyFile: String? = nil,
        proxy: String? = nil,
        unixSocket: String? = nil,
        userAgent: String = "understudy"
    ) {
        self.connectTimeout = connectTimeout
        self.requestTimeout = requestTimeout
        self.stallTimeout = stallTimeout
        self.responseHeadLimitBytes = responseHeadLimitBytes
        self.responseBodyLimitBytes = responseBodyLimitBytes
        self.streamedBodyLimitBytes = streamedBodyLimitBytes
        self.maxConnectionsPerHost = maxConnectionsPerHost
        self.maxPausedTransfers = maxPausedTransfers
        self.certificateAuthorityFile = certificateAuthorityFile
        self.clientCertificateFile = clientCertificateFile
        self.clientKeyFile = clientKeyFile
        self.proxy = proxy
        self.unixSocket = unixSocket
        self.userAgent = userAgent
    }
}

/// The libraries that this module stands on.
public enum ClientLibrary {
    /// libcurl as it was loaded, and the libraries that it uses, each with its version.
    public static var versions: [(name: String, version: String)] {
        // The text is a constant buffer of the library.
        guard let text = unsafe curl_version() else { return [] }
        return unsafe parts(of: String(cString: text))
    }

    /// The parts of a text such as `libcurl/7.88.1 OpenSSL/3.0.15 zlib/1.2.13`.
    static func parts(of text: String) -> [(name: String, version: String)] {
        text.split(separator: " ").compactMap { part in
            let pair = part.split(separator: "/", maxSplits: 1)
            return pair.count == 2 ? (String(pair[0]), String(pair[1])) : nil
        }
    }
}
