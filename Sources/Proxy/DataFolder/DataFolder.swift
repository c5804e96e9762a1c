package import SyncCore
import TablesProtocol

/// The data folder: stores, operator token, lock, address.
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

    /// Makes the folder if it is not there, takes its lock, and finishes or undoes a restore that was cut.
    /// - Parameters:
    ///   - isRestoring: whether a restore follows. Then stores that are missing after a cut one are no problem.
    ///   - tell: gets the sentence on a restore that was cut.
    package func open(
        isRestoring: Bool = false, tell: (String) -> Void = { _ in }
    ) throws(StartProblem) -> FolderLock {
        do {
            try Files.makeFolder(path)
            try refuseForeign()
            switch try FolderLock.take("\(path)/lock") {
            case .held(let lock):
                do {
                    if !isRestoring || cutRestore != .undecided { try mendCutRestore(tell) }
                } catch {
                    lock.release()
                    throw error
                }
                if !lock.hasRoom(bytes: Limits.openingBytes) {
                    Store.openOnFullDisk()
                    tell(
                        "The disk of \(path) is full: what is here is read, and writes are refused until "
                            + "some space is free.")
                }
                return lock
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

    /// Removes the stores, also those that were put aside, what is remembered of users, and the demo's
    /// backend. Lock and operator token stay.
    package func empty() throws(StartProblem) {
        do {
            for folder in [storesFolder, replacedStores] where Files.exists(folder) {
                try Files.removeFolder(folder)
            }
        } catch {
            throw StartProblem("\(error)")
        }
        Files.remove(tokensFile)
        Files.remove(ownersFile)
        Files.remove(cookiesFile)
        Files.remove(policiesFile)
        forgetSignIns()
        for ending in ["", "-wal", "-shm"] { Files.remove("\(path)/backend.sqlite\(ending)") }
    }

    /// The file of an identity's store; its folder is made if it is not there. The key of an identity is a
    /// valid file name.
    package func storeFile(_ identity: String) throws(StartProblem) -> String {
        do {
            try Files.makeFolder("\(path)/stores/\(identity)")
        } catch {
            throw StartProblem("\(error)")
        }
        let file = storePath(identity)
        try refuseIrregular(file)
        return file
    }

    /// The path of an identity's store file, whether it is there or not.
    func storePath(_ identity: String) -> String { "\(path)/stores/\(identity)/store.sqlite" }

    /// The file of the index of the stores. It is in their folder, so that a restore, which keeps that folder
    /// aside under another name, keeps the index aside with it.
    func indexFile() throws(StartProblem) -> String {
        do {
            try Files.makeFolder("\(path)/stores")
        } catch {
            throw StartProblem("\(error)")
        }
        return "\(path)/stores/index.sqlite"
    }

    package var hasStore: Bool {
        Files.exists("\(path)/stores/\(Identity.anonymousKey)/store.sqlite")
    }

    /// The contents of an identity's store, read without an open ``Store``.
    package func contents(_ identity: String) throws(StartProblem) -> StoreContents {
        do {
            return try Store.verify(at: try storeFile(identity))
        } catch {
            throw (error as? StartProblem) ?? StartProblem("\(error)", .error)
        }
    }

    /// The contents of an identity's store, or why it cannot be read. Makes nothing.
    package func inspect(_ identity: String) -> Result<StoreContents, StoreError> {
        Result { () throws(StoreError) in
            let file = storePath(identity)
            do throws(StartProblem) { try refuseIrregular(file) } catch {
                throw .failed(error.description)
            }
            return try Store.verify(at: file)
        }
    }

    /// The identities that have a store, without `anonymous`.
    package var identities: [Identity] {
        Files.names(in: "\(path)/stores").sorted().filter { name in
            name != Identity.anonymousKey && Files.exists("\(path)/stores/\(name)/store.sqlite")
        }.map { Identity(key: $0) }
    }

    /// The file of ``KnownTokens``.
    var tokensFile: String { "\(path)/tokens" }

    /// The file of ``BackendCookies``.
    var cookiesFile: String { "\(path)/cookies" }

    /// Removes the users' tokens that earlier versions kept, and the key with which a copy can be read.
    func forgetSignIns() {
        for name in ["sign-ins", "sign-ins.key"] { Files.remove("\(path)/\(name)") }
    }

    /// The operator token; made and written if there is none.
    /// - Parameter secret: makes the token.
    package func operatorToken(secret: () -> String) throws(StartProblem) -> String {
        do {
            if let token = try token() { return token }
            let token = secret()
            try Files.write(tokenFile, Array("\(token)\n".utf8))
            return token
        } catch {
            throw StartProblem("\(error)")
        }
    }

    /// The operator token of the folder; nil if there is none.
    package func token() throws(FileFailure) -> String? {
        guard let bytes = try Files.read(tokenFile) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        let token = text[...].trimming { $0 == "\n" || $0 == " " }
        return token.isEmpty ? nil : String(token)
    }

    package var tokenFile: String { "\(path)/operator.token" }

    /// The address that the last start wrote; nil if there is none.
    package func address() throws(FileFailure) -> String? {
        guard let bytes = try Files.read("\(path)/address") else { return nil }
        return String(String(decoding: bytes, as: UTF8.self)[...].trimming { $0 == "\n" })
    }

    /// Writes the address of this process for the commands.
    package func writeAddress(_ address: String) throws(FileFailure) {
        try Files.write("\(path)/address", Array("\(address)\n".utf8))
    }

    package func removeAddress() { Files.remove("\(path)/address") }
}

extension Substring {
    /// The text without the characters at both ends for which `condition` is true.
    package func trimming(_ condition: (Character) -> Bool) -> Substring {
        var rest = drop(while: condition)
        while let last = rest.last, condition(last) { rest.removeLast() }
        return rest
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
    func refuseIrregular(_ entry: String) throws(StartProblem) {
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
