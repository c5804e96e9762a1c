import CPrivileges
import Glibc
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

// Which files with settings and secrets are trusted.
extension Files.Status {
    /// Why a file that decides who gets rows and tokens cannot be trusted; nil if it can. Only `user` and root
    /// may be able to change it.
    /// - Parameters:
    ///   - subject: the file with its path, as the beginning of a sentence.
    ///   - naming: how a copy of it is named, as the end of a sentence, such as `with --config`.
    func changeFault(
        _ subject: String, path: String, naming: String, user: UInt32
    ) -> String? {
        if owner != user && owner != 0 {
            return
                "\(subject) belongs to another user. Read it, then name a copy of your own "
                + "\(naming)."
        }
        if permissions & 0o022 != 0 {
            return
                "\(subject) can be changed by other users. Read it, then close it with: "
                + "chmod go-w '\(path)'"
        }
        return nil
    }

    /// Why a file that this user or root owns cannot hold a secret; nil if it can. Other users may not read it,
    /// but for the group of a file of root's: that is how a service with a user of its own gets a secret.
    func secretFault(path: String) -> String? {
        let others: UInt32 = owner == 0 ? 0o007 : 0o077
        if permissions & others == 0 { return nil }
        return
            "\(path) is a secret that other users can read. Close it with: "
            + "chmod \(owner == 0 ? "o=" : "go=") '\(path)'. Where they may have read it, make a new one."
    }
}
