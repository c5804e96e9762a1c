import Glibc

public struct ServerConfiguration: Sendable {
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
    public var limits: Limits

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

/// Why a server could not start.
public enum StartFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// Another program listens there.
    case addressInUse(String)
    /// This user may not listen there.
    case permissionDenied(String)
    case addressNotAvailable(String)
    case invalidAddress(String)
    /// No Unix socket can be made at the path: it is too long, or something else is there.
    case invalidPath(String)
    /// The file descriptor that was handed over is not a listening socket.
    case notListening(descriptor: CInt)
    /// Nothing to listen on was given, or nothing optional was free.
    case nowhereToListen
    /// The certificate and the key are not a pair in PEM.
    case certificate
    /// ``Server/start()`` was called twice.
    case alreadyStarted
    /// The system refused for a reason of its own, such as too many open files.
    case system(operation: String, reason: String)

    static let noDescriptors = StartFailure.system(
        operation: "epoll_create1", reason: "too many open files")

    /// One sentence for a person, with what to do next.
    public var description: String {
        switch self {
        case .addressInUse(let address):
            "\(address) is in use by another program; stop it or listen on another port."
        case .permissionDenied(let address):
            "Listening on \(address) is not permitted; choose a port from 1024 up, or another path."
        case .addressNotAvailable(let address):
            "\(address) is not an address of this machine."
        case .invalidAddress(let text):
            "\"\(text)\" is not an address; write it like 127.0.0.1:8080 or [::1]:8080."
        case .invalidPath(let path):
            "No socket can be made at \(path); name a free path of at most 107 bytes, in a folder that "
                + "is there."
        case .notListening(let descriptor):
            "File descriptor \(descriptor) is not a listening socket."
        case .nowhereToListen: "There is no address to listen on."
        case .certificate:
            "The certificate and its key cannot be used: both have to be PEM, the key not encrypted, "
                + "and they have to belong together."
        case .alreadyStarted: "The server was started before; make a new one."
        case .system(let operation, let reason): "\(operation) failed: \(reason)."
        }
    }
}
