import Digests
package import Platform
import SyncCore
package import TablesProtocol

/// A backup: a folder with copies of all stores of a data folder, the file `policies`, if the data folder has one
/// (which policies of these stores a configuration named), and a manifest with the name, the size and the SHA-256
/// of each of these files and with what the stores hold.
package struct Backup: Sendable {
    /// The path of the folder.
    package let path: String

    /// One store of a backup, as in the manifest.
    package typealias Entry = Answers.BackedUpStore

    /// What follows the path of a backup in the name of the folder in which it is made.
    static let unfinishedMark = ".part-"

    package init(path: String) { self.path = path }

    /// Copies every store, also while a process works on them, and checks each copy.
    ///
    /// 1. The copies are made in a new folder next to `path`, for this user alone, so that no other user
    ///    can plant a link in it.
    /// 2. The manifest is written last. A folder without one is no backup.
    /// 3. The folder is renamed to `path`, which must not exist or be an empty folder.
    @available(*, noasync)
    package static func make(of folder: DataFolder, at path: String) throws(StartProblem) -> [Entry]
    {
        try folder.refuseCutRestore()
        guard folder.hasStore else {
            throw StartProblem("There is nothing to back up at \(folder.path).", .error)
        }
        var target = path
        while target.count > 1, target.hasSuffix("/") { target.removeLast() }
        if Files.exists(target) {
            guard Files.isFolder(target) else {
                throw StartProblem(
                    "\(target) is no folder, or a link to one; name a new one.", .error)
            }
            guard Files.names(in: target).isEmpty else {
                throw StartProblem("\(target) is not empty; name a new folder.", .error)
            }
        }
        let backup = Backup(path: "\(target)\(unfinishedMark)\(ThisProcess.secret().prefix(12))")
        do {
            if let slash = target.lastIndex(of: "/"), slash != target.startIndex {
                try Files.makeFolder(String(target[..<slash]))
            }
            try Files.makeNewFolder(backup.path)
        } catch {
            throw StartProblem("\(error)", .error)
        }
        do {
            if let policies = try Files.read(folder.policiesFile, mayBeLink: false) {
                try Files.write(backup.policies, policies)
            }
            let entries = try backup.copies(of: folder, for: target)
            try Files.write(backup.manifest, Array(try backup.text(entries).utf8))
            try Files.rename(backup.path, to: target)
            return entries
        } catch {
            try? Files.removeFolder(backup.path)
            throw (error as? StartProblem) ?? StartProblem("\(error)", .error)
        }
    }

    /// Copies the stores into this folder.
    /// - Parameter target: the path that the backup gets, for messages.
    private func copies(of folder: DataFolder, for target: String) throws -> [Entry] {
        try ([Identity.anonymousKey] + folder.identities.map(\.key)).map { identity in
            try Files.makeFolder("\(path)/stores/\(identity)")
            do {
                let contents = try StoreOnDisk(at: try folder.storeFile(identity)).backup(
                    to: storeFile(identity))
                return entry(identity, contents)
            } catch StoreError.full(_) {
                // The copy is what grows; its source is only read.
                throw StartProblem(
                    "The disk of \(target) is full: free space there, or name a folder on another disk.",
                    .error)
            }
        }
    }

    /// Whether the folder has the manifest of a whole backup.
    var isWhole: Bool { Files.isItselfRegular(manifest) }

    /// The entries of the manifest, after all files were compared with it and each store was checked.
    @available(*, noasync)
    package func verified() throws(StartProblem) -> [Entry] {
        if Files.isItselfRegular(path) {
            throw StartProblem(
                "\(path) is a file, and a backup is a folder: name the folder that `understudy backup` made.",
                .error)
        }
        let hasPolicies = Files.exists(policies)
        guard
            !hasPolicies
                || Files.isItselfRegular(policies)
                    && Files.size(policies) ?? 0 <= Int64(Limits.policiesBytes)
        else {
            throw StartProblem(
                "\(policies) is no regular file, or has more than \(Limits.policiesBytes >> 20) MiB: "
                    + "restore another backup.", .error)
        }
        guard !Files.exists(manifest) || Files.isItselfRegular(manifest) else {
            throw StartProblem(
                "\(path) is no whole backup: its manifest.json is no regular file.", .error)
        }
        var bytes: [UInt8]?
        do {
            if Files.size(manifest) ?? 0 <= Int64(Limits.manifestBytes) {
                bytes = try Files.read(manifest, mayBeLink: false)
            }
        } catch {
            throw StartProblem("\(error)", .error)
        }
        guard let bytes, let value = try? JSONValue(parsing: bytes),
            let stores = value["stores"]?.array
        else { throw StartProblem("\(path) is no whole backup: it has no manifest.", .error) }
        guard value["version"]?.integer == Self.version, let listed = value["files"]?.array else {
            throw StartProblem(
                "\(path) is a backup of another version, which this Understudy does not read: restore it with "
                    + "the version that made it.", .error)
        }
        let identities = stores.compactMap { $0["identity"]?.string }.filter(Identity.isKey)
        guard identities.count == stores.count else {
            throw StartProblem("\(manifest) cannot be understood.", .error)
        }
        let files = try files(of: identities)
        for file in files where !listed.contains(JSONValue(answer: file)) {
            throw StartProblem(
                "\(path)/\(file.name) is not as it was written: restore another backup.", .error)
        }
        guard files.count == listed.count else {
            throw StartProblem(
                "\(path) lacks a file that its manifest names: restore another backup.", .error)
        }
        let entries = try identities.map { identity throws(StartProblem) in try entry(identity) }
        guard JSONValue(answer: entries) == .array(stores) else {
            throw StartProblem(
                "A store in \(path) does not hold what its manifest says: restore another backup.",
                .error)
        }
        return entries
    }

    /// Copies the stores into a data folder whose lock is held. Stores that are there are moved to another
    /// folder. A crash leaves a ``CutRestore``. The known tokens are not in a backup: a planted fingerprint would give its owner the rows of
    /// another user. Users whose tokens the data folder does not know sign in again.
    ///
    /// The backup's file `policies` is put in place, so that the next start takes back what its configuration
    /// does not name. Without one in the backup the data folder's stays.
    /// - Returns: the folder of the earlier stores; nil if there were none.
    package func restore(
        _ entries: [Entry], to folder: DataFolder
    ) throws(StartProblem) -> String? {
        let incoming = folder.incomingStores
        do {
            if Files.exists(incoming) { try Files.removeFolder(incoming) }
            try Files.makeFolder(incoming)
            for entry in entries {
                try Files.makeFolder("\(incoming)/\(entry.identity)")
                let copy = "\(incoming)/\(entry.identity)/store.sqlite"
                // Only looked at: the folder is moved aside below.
                _ = try StoreOnDisk(at: copy).restore(
                    storeFile(entry.identity),
                    replacing: folder.storePath(entry.identity), clock: SystemClock())
                try Files.syncParent(of: copy)
            }
            if let kept = try Files.read(policies, mayBeLink: false) {
                try Files.write("\(incoming)/policies", kept)
            }
            try Files.rename(incoming, to: folder.restoredStores)
            return try folder.finishRestore()
        } catch {
            throw (error as? StartProblem) ?? StartProblem("\(error)", .error)
        }
    }

    /// Restores every store as ``restore(_:to:)`` does, but to temporary files without names.
    /// - Returns: the entries of the restored stores.
    package func rehearse(_ entries: [Entry]) throws(StartProblem) -> [Entry] {
        var restored: [Entry] = []
        for entry in entries {
            do {
                let contents = try StoreOnDisk(at: storeFile(entry.identity)).rehearseRestore(
                    clock: SystemClock())
                restored.append(self.entry(entry.identity, contents))
            } catch {
                throw StartProblem("\(error)", .error)
            }
        }
        return restored
    }

    /// The number of the manifest's form.
    private static let version: Int64 = 2

    /// A file of a backup, as in the manifest.
    private struct File: Encodable {
        /// Its path below the folder of the backup.
        let name: String
        let bytes: Int64
        let sha256: String
    }

    /// The files of a backup of these stores that are there, beside the manifest.
    private func files(of identities: [String]) throws(StartProblem) -> [File] {
        for identity in identities { try refuseLinks(identity) }
        let paths = [policies].filter(Files.exists) + identities.map(storeFile)
        return try paths.map { file throws(StartProblem) in
            do {
                var bytes: Int64 = 0
                var hash = SHA256.Running()
                let isThere = try Files.eachPiece(of: file, mayBeLink: false) { piece in
                    bytes += Int64(piece.count)
                    hash.take(piece)
                }
                guard isThere else {
                    throw StartProblem("\(file) is missing: restore another backup.", .error)
                }
                return File(
                    name: String(file.dropFirst(path.utf8.count + 1)), bytes: bytes,
                    sha256: hash.digest().hexadecimal)
            } catch let problem as StartProblem {
                throw problem
            } catch {
                throw StartProblem("\(error)", .error)
            }
        }
    }

    private var manifest: String { "\(path)/manifest.json" }
    private var policies: String { "\(path)/policies" }

    private func storeFile(_ identity: String) -> String {
        "\(path)/stores/\(identity)/store.sqlite"
    }

    /// Refuses a store whose folders or files are links, pipes or devices.
    private func refuseLinks(_ identity: String) throws(StartProblem) {
        for folder in ["\(path)/stores", "\(path)/stores/\(identity)"]
        where Files.exists(folder) && !Files.isFolder(folder) {
            throw StartProblem("\(folder) is no folder: restore another backup.", .error)
        }
        // SQLite also opens the files next to it, and would wait for ever for the writer of a pipe.
        for file in ["", "-wal", "-shm", "-journal"].map({ storeFile(identity) + $0 })
        where Files.exists(file) && !Files.isItselfRegular(file) {
            throw StartProblem("\(file) is no regular file: restore another backup.", .error)
        }
    }

    /// Checks one copy.
    private func entry(_ identity: String) throws(StartProblem) -> Entry {
        let contents: StoreContents
        do {
            contents = try StoreOnDisk(at: storeFile(identity)).verify()
        } catch {
            throw StartProblem("\(storeFile(identity)): \(error)", .error)
        }
        if let fault = contents.faults.first {
            throw StartProblem("\(storeFile(identity)): \(fault)", .error)
        }
        return entry(identity, contents)
    }

    private func entry(_ identity: String, _ contents: StoreContents) -> Entry {
        Entry(
            identity: identity, bytes: Files.size(storeFile(identity)) ?? 0,
            items: contents.items, openOperations: contents.ledger.queue.open)
    }

    private func text(_ entries: [Entry]) throws(StartProblem) -> String {
        JSONValue.members(
            ("version", .number(Int(Self.version))), ("program", .string(Version.text)),
            ("at", .string(ThisProcess.now.text)),
            ("files", JSONValue(answer: try files(of: entries.map(\.identity)))),
            ("stores", JSONValue(answer: entries))
        ).text + "\n"
    }
}

/// A folder of backups that are named by their time.
package struct BackupFolder: Sendable, Hashable {
    /// The path of the folder.
    package let path: String

    /// The folder at a path.
    package init(path: String) { self.path = path }

    /// Where backups go unless another folder is set.
    package static func standardPath(of data: DataFolder) -> String { "\(data.path)/backups" }

    package typealias Kept = Answers.KeptBackup

    /// The whole backups, the oldest first. Other files and folders are not looked at, and neither is a
    /// link: the folder that it leads to may hold more than a backup.
    package var backups: [Kept] {
        Files.names(in: path).compactMap { name -> Kept? in
            guard let at = Self.time(of: name) else { return nil }
            let kept = Kept(path: "\(path)/\(name)", at: at)
            return Files.isFolder(kept.path) && Backup(path: kept.path).isWhole ? kept : nil
        }.sorted { $0.at < $1.at }
    }

    /// The folders of backups that were begun before a time and are not finished.
    func unfinished(begunBefore time: Instant) -> [String] {
        Files.names(in: path).filter { name in
            guard let at = Self.time(of: String(name.prefix(Self.example.count))) else {
                return false
            }
            return at < time && name.dropFirst(Self.example.count).hasPrefix(Backup.unfinishedMark)
        }.map { "\(path)/\($0)" }.filter(Files.isFolder)
    }

    /// The latest backup that was begun by a time; nil if there is none.
    package func latest(by time: Instant) -> Kept? {
        backups.last { $0.at <= time }
    }

    /// The path of a backup that begins at a time.
    func path(at time: Instant) -> String { "\(path)/\(Self.name(time))" }

    /// The name of a backup: the time without colons, which some file systems do not take.
    static func name(_ time: Instant) -> String { time.text.filter { $0 != ":" } }

    /// The time of a name; nil for another name.
    static func time(of name: String) -> Instant? {
        guard name.utf8.count == example.utf8.count else { return nil }
        let (hour, minute) = (name.index(name.startIndex, offsetBy: 13), name.dropFirst(15))
        let text = "\(name[..<hour]):\(name[hour...].prefix(2)):\(minute)"
        guard let time = Instant(parsing: text), Self.name(time) == name else { return nil }
        return time
    }

    private static let example = "2026-11-25T184500.123Z"

    /// The end of a day or minute that a person names, such as `2026-11-21`, `2026-11-21T18:30` or a whole
    /// time; in UTC. Nil for another text.
    package static func end(of text: String) -> Instant? {
        switch text.utf8.count {
        case "2026-11-21".utf8.count: Instant(parsing: "\(text)T23:59:59.999Z")
        case "2026-11-21T18:30".utf8.count: Instant(parsing: "\(text):59.999Z")
        default: Instant(parsing: text)
        }
    }

    /// The backups to remove so that `count` are left: those that were made first. One in the future was made
    /// before the clock was set back, so it was made before all others.
    /// - Parameter backups: those of the folder, in the order of their times.
    static func excess(_ backups: [Kept], keeping count: Int, now: Instant) -> [Kept] {
        let inFuture = backups.filter { $0.at > now }
        let others = backups.filter { $0.at <= now }
        return Array((inFuture + others).dropLast(count))
    }
}
