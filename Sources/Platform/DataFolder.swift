/// A data folder, which belongs to one user and is used by one process at a time.
package struct DataFolder: Sendable, Hashable {
    /// The path of the folder.
    package let path: String

    /// The folder at a path.
    package init(path: String) { self.path = path }

    /// The user's default folder by the XDG rules: a relative `XDG_DATA_HOME` is ignored.
    package static func standard(
        name: String, environment: (String) -> String?
    ) throws(StartProblem) -> DataFolder {
        if let base = environment("XDG_DATA_HOME"), base.hasPrefix("/") {
            return DataFolder(path: "\(base)/\(name)")
        }
        guard let home = environment("HOME"), home.hasPrefix("/") else {
            throw StartProblem("There is no HOME, so say where the data shall be with --data.")
        }
        return DataFolder(path: "\(home)/.local/share/\(name)")
    }

    /// Makes the folder if it is not there, and takes its lock.
    package func lock() throws(StartProblem) -> FolderLock {
        do {
            try Files.makeFolder(path)
            try refuseForeign()
            switch try FolderLock.take("\(path)/lock") {
            case .held(let lock): return lock
            case .taken:
                throw StartProblem(
                    "Another Understudy runs on \(path). Stop it, or choose another folder with "
                        + "--data.")
            }
        } catch let failure as FileFailure {
            throw StartProblem("\(failure) Choose another folder with --data.")
        } catch let problem as StartProblem {
            throw problem
        } catch {
            throw StartProblem("\(error)")
        }
    }
}

// The folder and everything in it are accessible to its owner alone.
extension DataFolder {
    /// Throws if the folder, or anything in it, belongs to another user or is accessible to one. Another
    /// user may have read or planted a token or a row, so a person has to look at it.
    /// - Parameter owner: the user whose folder it has to be; by default the one of this process.
    package func refuseForeign(owner: UInt32 = ThisProcess.user) throws(StartProblem) {
        guard let status = Files.status(path) else { return }
        if status.owner != owner { throw StartProblem(foreignFolder(status)) }
        try refuseForeign(path, owner)
    }

    private func refuseForeign(_ entry: String, _ owner: UInt32) throws(StartProblem) {
        guard let status = Files.status(entry) else { return }
        if status.owner != owner {
            throw StartProblem(
                "\(entry) belongs to another user. \(adviceOnForeignEntry(entry, owner))")
        }
        if status.permissions & 0o077 != 0 {
            throw StartProblem("\(entry) is open to other users. \(adviceToClose)")
        }
        guard Files.isFolder(entry) else { return try refuseIrregular(entry) }
        for name in Files.names(in: entry) { try refuseForeign("\(entry)/\(name)", owner) }
    }

    /// Throws if anything but a regular file is at `entry`, or at the end of a link there: to open a pipe or
    /// a device may block for ever. A folder that another disk holds may be a link. The socket of the operator
    /// API is the one other exception.
    package func refuseIrregular(_ entry: String) throws(StartProblem) {
        guard Files.exists(entry), !Files.isRegular(entry), !Files.leadsToFolder(entry),
            entry != "\(path)/socket"
        else { return }
        throw StartProblem(
            "\(entry) is no regular file (a pipe, a device, a socket, or a link to one or to nothing). "
                + "Understudy makes no such file. Look what it is, then remove it.")
    }

    /// Why a folder cannot be used by this user, and what to do.
    package func foreignFolder(_ status: Files.Status) -> String {
        let other = "\(path) belongs to another user."
        guard isUnderstudys else { return "\(other) Choose a folder of your own with --data." }
        return
            "\(other) Run the command as that user (sudo -u '#\(status.owner)' understudy …), or "
            + "choose a folder of your own with --data."
    }
}

// What a message may advise. A person copies a command without much thought, so a command that changes
// permissions names only what this program has made.
extension DataFolder {
    /// The sentence on a folder with something that other users can access.
    package var adviceToClose: String {
        isUnderstudys
            ? "Close everything in it with: chmod -R go= \(Self.quoted(path))"
            : "\(path) is no folder that Understudy has made. Name a new one with --data: Understudy "
                + "makes it for you alone."
    }

    /// What to do where the stores cannot be opened or written.
    package var adviceToOpen: String {
        let stores = Self.quoted("\(path)/stores")
        return
            "Give their user back the right to write: chmod -R u+rwX \(stores). Where a file belongs to "
            + "another user: sudo chown -R --reference=\(Self.quoted(path)) \(stores). Where the disk is "
            + "mounted read-only, mount it for writing."
    }

    private func adviceOnForeignEntry(_ entry: String, _ owner: UInt32) -> String {
        isUnderstudys
            ? "Look what it is, then remove it or take it over: sudo chown \(owner) "
                + Self.quoted(entry)
            : "Name a new folder with --data."
    }

    /// Whether Understudy has made this folder: it has a lock, and nothing that Understudy does not make.
    package var isUnderstudys: Bool {
        let names = Files.names(in: path)
        return names.contains("lock") && names.allSatisfy(Self.isOwn)
    }

    /// Whether Understudy makes an entry of this name in its data folder.
    static func isOwn(_ name: String) -> Bool {
        let name = name.hasSuffix(".new") ? name.dropLast(4) : name[...]
        return ownNames.contains(String(name)) || name.hasPrefix("stores.before-")
            || name.hasPrefix("open-") && name.hasSuffix(".html")
    }

    private static let ownNames: Set<String> = [
        "lock", "operator.token", "address", "socket", "sessions", "access", "tokens",
        "cookies", "policies", "sign-ins", "sign-ins.key", "stores", "stores.incoming",
        "stores.restored", "backups",
        "backend.sqlite", "backend.sqlite-wal", "backend.sqlite-shm", "backend.sqlite-journal",
    ]

    /// A path as a word of a shell's command.
    private static func quoted(_ path: String) -> String {
        "'"
            + path.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "'\\''") + "'"
    }
}
