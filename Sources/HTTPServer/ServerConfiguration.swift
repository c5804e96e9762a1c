import Glibc

/// The configuration of a server.
public struct ServerConfiguration: Sendable {
    /// The addresses to listen on.
    public var addresses: [ListenAddress]
    /// Paths of Unix sockets to listen on, each for its owner alone (0600). A socket that a crashed server
    /// left there is replaced; one that accepts connections is not.
    public var unixSockets: [String]
    /// Listening sockets that are open already (socket activation). The server takes them over and
    /// closes them when it stops.
    public var openSockets: [CInt]
    /// Threads that run the handler; by default one for each core.
    public var workers: Int
    /// What clients are shown, over TLS; nil for connections in the clear.
    public var certificate: ServerCertificate?
    /// The limits.
    public var limits: Limits

    /// Makes a configuration.
    public init(
        addresses: [ListenAddress], unixSockets: [String] = [], openSockets: [CInt] = [],
        workers: Int = ServerConfiguration.cores, certificate: ServerCertificate? = nil,
        limits: Limits = Limits()
    ) {
        self.addresses = addresses
        self.unixSockets = unixSockets
        self.openSockets = openSockets
        self.workers = max(1, workers)
        self.certificate = certificate
        self.limits = limits
    }
}

/// A certificate with its key.
public struct ServerCertificate: Sendable, Hashable {
    /// The certificate and those above it, as PEM.
    public let chain: String
    /// Its private key as PEM, not encrypted.
    public let key: String

    /// Takes both as they are; a server that starts looks whether they fit.
    public init(chain: String, key: String) {
        self.chain = chain
        self.key = key
    }
}

extension ServerConfiguration {
    /// The cores that this machine has online.
    public static var cores: Int { max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN))) }
}

/// A numeric address and port to listen on, such as `127.0.0.1:8080` or `[::1]:8080`.
public struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address without brackets.
    public let host: String
    /// The port; 0 lets the system choose a free one.
    public let port: UInt16
    /// Whether the server starts without this address where it cannot listen on it.
    public let isOptional: Bool

    /// Makes an address from its parts.
    /// - Throws: ``StartFailure/invalidAddress(_:)`` when `host` is not numeric.
    public init(host: String, port: UInt16, isOptional: Bool = false) throws(StartFailure) {
        self.host = host
        self.port = port
        self.isOptional = isOptional
        guard SocketAddress(host: host, port: port) != nil else {
            throw .invalidAddress(description)
        }
    }

    /// Reads `ADDRESS:PORT`, an IPv6 address in brackets.
    /// - Throws: ``StartFailure/invalidAddress(_:)``.
    public init(_ text: String, isOptional: Bool = false) throws(StartFailure) {
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...])
        else { throw .invalidAddress(text) }
        let host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let bare = isBracketed ? host.dropFirst().dropLast() : host
        guard isBracketed == bare.contains(":"),
            let address = try? ListenAddress(
                host: String(bare), port: port, isOptional: isOptional)
        else { throw .invalidAddress(text) }
        self = address
    }

    /// The address as it is written in a URL.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
