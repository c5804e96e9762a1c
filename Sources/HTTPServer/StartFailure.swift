/// Why a server could not start.
public enum StartFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// Another program listens there.
    case addressInUse(String)
    /// This user may not listen there.
    case permissionDenied(String)
    /// This machine has no such address.
    case addressNotAvailable(String)
    /// The text is not an address with a port.
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
