import CPrivileges
import Glibc
import Platform
import Proxy

/// What root does to work in the data folder of another user while no Understudy runs there: the command
/// goes on as that user.
///
/// So every file that it makes is the owner's, and a link that the owner has put there leads it to nothing
/// that the owner could not change. It may still read what root may: systemd keeps the folders of its
/// services below one that only root may enter (docs/decisions/operator.md).
enum FolderOwner {
    /// Starts this program again, with the same arguments and environment (`HOME` too, so that it finds the
    /// same configuration file), as the user who owns a folder. Returns if this user is not root, or if the
    /// folder is root's own or is not there.
    static func become(of folder: DataFolder) throws(StartProblem) {
        guard isAnother(folder), let status = Files.status(folder.path) else { return }
        let failure =
            "This command cannot go on as the owner of \(folder.path). Run it as that user: sudo -u "
            + "'#\(status.owner)' understudy …"
        // The path is lent for the call. The program is opened before, since its path may lead through
        // folders that the owner may not enter.
        let program = unsafe open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
        guard program >= 0, understudy_become(status.owner, status.group) == 0 else {
            throw StartProblem(failure, .error)
        }
        // Arguments and environment live as long as the process. It returns only if it fails.
        _ = unsafe fexecve(program, CommandLine.unsafeArgv, environ)
        throw StartProblem(failure, .error)
    }

    /// Whether this user is root and the folder another user's.
    static func isAnother(_ folder: DataFolder) -> Bool {
        guard ThisProcess.user == 0, let status = Files.status(folder.path) else { return false }
        return status.owner != 0
    }
}
