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
