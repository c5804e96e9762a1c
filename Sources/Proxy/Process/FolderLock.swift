import Glibc

/// The right to be the only process on a data folder, for as long as this process lives.
package struct FolderLock: Sendable {
    /// What happened when the lock was asked for.
    package enum Outcome: Sendable {
        case held(FolderLock)
        /// Another process has it.
        case taken
    }

    /// The open file; the kernel releases the lock when it closes, also after a crash.
    private let descriptor: CInt

    /// Takes the lock in `file`, without waiting.
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
