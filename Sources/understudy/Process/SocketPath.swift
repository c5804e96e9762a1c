import Glibc
import Platform
import Proxy

/// The path of a Unix socket in a folder, short enough to bind or connect.
///
/// The kernel allows paths of at most ``Limits/socketPathBytes``. For a longer one the folder is opened,
/// and the socket gets the path `/proc/self/fd/N/NAME`.
///
/// `unsafe`: the path is lent to `open` as a C string for the call alone, which does not keep it.
struct SocketPath: Sendable {
    /// The path to bind or connect to.
    let path: String
    /// The open folder that ``path`` uses; nil for a short path.
    private let folder: CInt?

    /// The path of the socket `name` in a folder that exists.
    init(_ folder: String, name: String) throws(FileFailure) {
        let whole = "\(folder)/\(name)"
        guard whole.utf8.count > Limits.socketPathBytes else {
            (path, self.folder) = (whole, nil)
            return
        }
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure("open the folder \(folder)") }
        (path, self.folder) = ("/proc/self/fd/\(descriptor)/\(name)", descriptor)
    }

    /// Closes the folder. After that the path is invalid.
    func close() {
        if let folder { _ = Glibc.close(folder) }
    }
}

// The socket by which the commands reach the process that runs on the folder.
extension DataFolder {
    static let socketName = "socket"

    func socketPath() throws(FileFailure) -> SocketPath {
        try SocketPath(path, name: Self.socketName)
    }

    /// Whether the file of the socket is there; that of a crashed process counts too.
    var hasSocket: Bool { Files.exists("\(path)/\(Self.socketName)") }

    /// Throws if another user could have made the socket. The process that listens on it would get the
    /// operator token.
    func refuseForeignSocket() throws(StartProblem) {
        guard let status = Files.status(path) else { return }
        if let sentence = fault(status, user: ThisProcess.user) { throw StartProblem(sentence) }
    }

    /// Why a folder's socket cannot be trusted; nil if it can. Root may use the socket of any user, since
    /// the token in the folder is that user's too.
    func fault(_ status: Files.Status, user: UInt32) -> String? {
        if status.owner != user && user != 0 { return foreignFolder(status) }
        if status.permissions & 0o022 != 0 {
            return "Other users may write in \(path), so what listens there may not be Understudy. "
                + adviceToClose
        }
        return nil
    }
}
