import Proxy

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
