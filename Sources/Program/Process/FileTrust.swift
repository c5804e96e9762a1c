package import Proxy

// Which files with settings and secrets are trusted.
extension Files.Status {
    /// Why a file that decides who gets rows and tokens cannot be trusted; nil if it can. Only `user` and root
    /// may be able to change it.
    /// - Parameters:
    ///   - subject: the file with its path, as the beginning of a sentence.
    ///   - naming: how a copy of it is named, as the end of a sentence, such as `with --config`.
    package func changeFault(
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
    package func secretFault(path: String) -> String? {
        let others: UInt32 = owner == 0 ? 0o007 : 0o077
        if permissions & others == 0 { return nil }
        return
            "\(path) is a secret that other users can read. Close it with: "
            + "chmod \(owner == 0 ? "o=" : "go=") '\(path)'. Where they may have read it, make a new one."
    }
}
