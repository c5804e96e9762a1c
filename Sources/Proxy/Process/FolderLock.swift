import Glibc

/// An exclusive lock on a data folder, until ``release()`` or the end of the process.
package struct FolderLock: Sendable {
    /// The result of ``take(_:)``.
    package enum Outcome: Sendable {
        case held(FolderLock)
        /// Another process has the lock.
        case taken
    }

    /// The open file; the kernel releases the lock when it closes, also after a crash.
    private let descriptor: CInt

    /// Takes the lock of `file` without waiting.
    package static func take(_ file: String) throws(FileFailure) -> Outcome {
        // open keeps nothing of the path, which is lent for the call.
        let descriptor = unsafe open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFailure("write \(file)") }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
            return .held(FolderLock(descriptor: descriptor))
        }
        let code = errno
        close(descriptor)
        if code == EWOULDBLOCK { return .taken }
        throw FileFailure("lock \(file)", code: code)
    }

    /// Releases the lock.
    package func release() { close(descriptor) }
}
