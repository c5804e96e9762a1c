import Glibc
import Proxy

/// Where a Unix socket of a folder is bound and connected to.
///
/// The kernel takes at most ``Limits/socketPathBytes`` of path. A longer one is reached through the
/// folder's open descriptor, as `/proc/self/fd/N/NAME`: the same file under a short name of this process.
///
/// `unsafe`: the path is lent to `open` as a C string for the call alone, which does not keep it.
struct SocketPath: Sendable {
    /// The path to bind or connect to.
    let path: String
    /// The folder, open as long as ``path`` leads through it; nil where the path is short.
    private let folder: CInt?

    /// Finds the place of the socket `name` in a folder that is there.
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

    /// Closes the folder. The path must not be used any more.
    func close() {
        if let folder { _ = Glibc.close(folder) }
    }
}

// How the commands find the process that works on the folder, and know that it is one.
extension DataFolder {
    /// The socket that the commands use.
    static let socketName = "socket"

    /// Where that socket is.
    func socketPath() throws(FileFailure) -> SocketPath {
        try SocketPath(path, name: Self.socketName)
    }

    /// Whether there is such a socket; one that a crash left behind counts too.
    var hasSocket: Bool { Files.exists("\(path)/\(Self.socketName)") }

    /// Refuses a folder in which another user could have put the socket: what listens there would be
    /// handed the operator token.
    func refuseForeignSocket() throws(StartProblem) {
        guard let status = Files.status(path) else { return }
        if let sentence = Self.fault(status, user: ThisProcess.user, path: path) {
            throw StartProblem(sentence)
        }
    }

    /// Why a folder's socket cannot be trusted; nil when it can. Root may use the socket of every user,
    /// since the token that it reads there is its owner's as well.
    static func fault(_ status: Files.Status, user: UInt32, path: String) -> String? {
        if status.owner != user && user != 0 {
            return
                "\(path) belongs to another user. Run the command as that user, or name your own "
                + "folder with --data."
        }
        if status.permissions & 0o022 != 0 {
            return "Other users may write in \(path), so what listens there may not be Understudy. "
                + "Close it with: chmod -R go= '\(path)'"
        }
        return nil
    }
}
