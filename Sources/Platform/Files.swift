import Glibc

/// Operations on the files of the data folder. New files and folders are for their owner alone.
///
/// `unsafe`: a path is lent to a C function as a C string for the call alone, and none of these functions
/// keeps it.
package enum Files {
    /// The owner, the permissions and the group of a file.
    package struct Status: Sendable, Hashable {
        package let owner: UInt32
        /// The permission bits of the mode.
        package let permissions: UInt32
        package var group: UInt32 = 0
    }

    /// Makes a folder and its parents if they are not there, with 0700.
    package static func makeFolder(_ path: String) throws(FileFailure) {
        if isFolder(path) { return }
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try makeFolder(String(path[..<slash]))
        }
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw FileFailure("create the folder \(path)")
        }
        try syncParent(of: path)
    }

    /// Makes a new folder with 0700. Throws if anything is at `path`, also a link.
    package static func makeNewFolder(_ path: String) throws(FileFailure) {
        guard unsafe mkdir(path, 0o700) == 0 else { throw FileFailure("create the folder \(path)") }
        try syncParent(of: path)
    }

    /// Syncs the parent folder of `path`, so that the entry's name is on disk. A sync of the file does not
    /// do that.
    package static func syncParent(of path: String) throws(FileFailure) {
        let slash = path.lastIndex(of: "/")
        let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure("open the folder \(parent)") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw FileFailure("sync the folder \(parent)") }
    }

    /// Whether `path` is a folder.
    package static func isFolder(_ path: String) -> Bool {
        mode(path).map { $0 & S_IFMT == S_IFDIR } ?? false
    }

    /// Whether `path` is a regular file: no link, folder, pipe, socket or device.
    package static func isItselfRegular(_ path: String) -> Bool {
        mode(path).map { $0 & S_IFMT == S_IFREG } ?? false
    }

    /// Whether `path`, or the target of a link there, is a regular file.
    package static func isRegular(_ path: String) -> Bool {
        var status = stat()
        // stat fills the struct that it is given, which lives until the call returns.
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Whether `path`, or the target of a link there, is a folder.
    package static func leadsToFolder(_ path: String) -> Bool {
        var status = stat()
        // stat fills the struct that it is given, which lives until the call returns.
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    package static func exists(_ path: String) -> Bool { mode(path) != nil }

    /// Owner, permissions and group of the file at `path`; nil if there is none.
    package static func status(_ path: String) -> Status? {
        var status = stat()
        // stat fills the struct that it is given, which lives until the call returns.
        guard unsafe stat(path, &status) == 0 else { return nil }
        return Status(
            owner: status.st_uid, permissions: status.st_mode & 0o777, group: status.st_gid)
    }

    /// Owner, permissions and group of an open file; nil if the descriptor is invalid.
    package static func status(_ descriptor: CInt) -> Status? {
        var status = stat()
        // fstat fills the struct that it is given, which lives until the call returns.
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        return Status(
            owner: status.st_uid, permissions: status.st_mode & 0o777, group: status.st_gid)
    }

    /// Opens a file for reading; nil if there is none.
    /// - Parameter mayBePipe: whether a pipe is read too, which may block until another program writes to it.
    private static func openForReading(
        _ path: String, mayBePipe: Bool = false, mayBeLink: Bool = true
    ) throws(FileFailure) -> CInt? {
        // Without O_NONBLOCK, opening a pipe would wait for a writer. It means nothing for a regular file.
        let flags =
            O_RDONLY | O_CLOEXEC | (mayBePipe ? 0 : O_NONBLOCK) | (mayBeLink ? 0 : O_NOFOLLOW)
        let descriptor = unsafe open(path, flags)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw errno == ELOOP
                ? FileFailure(noRegularFile: "read \(path)") : FileFailure("read \(path)")
        }
        var status = stat()
        // fstat fills the struct that it is given, which lives until the call returns.
        let isRegular = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        guard isRegular || mayBePipe else {
            close(descriptor)
            throw FileFailure(noRegularFile: "read \(path)")
        }
        return descriptor
    }

    /// The bytes of a file; nil if there is none.
    /// - Parameter mayBePipe: whether `path` may name a pipe, as a person's own option may.
    package static func read(
        _ path: String, mayBePipe: Bool = false, mayBeLink: Bool = true
    ) throws(FileFailure) -> [UInt8]? {
        var bytes: [UInt8] = []
        let isThere = try eachPiece(of: path, mayBePipe: mayBePipe, mayBeLink: mayBeLink) {
            bytes += $0
        }
        return isThere ? bytes : nil
    }

    /// Reads a file piece by piece.
    /// - Returns: false if there is none.
    package static func eachPiece(
        of path: String, mayBePipe: Bool = false, mayBeLink: Bool = true,
        _ take: (ArraySlice<UInt8>) -> Void
    ) throws(FileFailure) -> Bool {
        let opened = try openForReading(path, mayBePipe: mayBePipe, mayBeLink: mayBeLink)
        guard let descriptor = opened else { return false }
        defer { close(descriptor) }
        var chunk = [UInt8](repeating: 0, count: Limits.smallFilePieceBytes)
        while true {
            // read writes at most as many bytes as the array has.
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 { throw FileFailure("read \(path)") }
            if count == 0 { return true }
            take(chunk[..<count])
        }
    }

    /// Reads a file to its end and discards the bytes. Throws if the disk cannot read it, and not if there
    /// is none.
    package static func checkReadable(_ path: String) throws(FileFailure) {
        guard let descriptor = try openForReading(path) else { return }
        defer { close(descriptor) }
        var chunk = [UInt8](repeating: 0, count: Limits.filePieceBytes)
        while true {
            // read writes at most as many bytes as the array has.
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 { throw FileFailure("read \(path)") }
            if count == 0 { return }
        }
    }

    /// Replaces a file: a new file in the same folder (0600) is written, synced and renamed over it. A link
    /// at either path is replaced, never followed.
    package static func write(_ path: String, _ bytes: [UInt8]) throws(FileFailure) {
        let beside = "\(path).new"
        remove(beside)
        let descriptor = unsafe open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileFailure("write \(path)") }
        // write reads at most as many bytes as the array has.
        let written = unsafe Glibc.write(descriptor, bytes, bytes.count)
        let isComplete = written == bytes.count && fsync(descriptor) == 0
        let failure = FileFailure("write \(path)")
        close(descriptor)
        guard isComplete else { throw failure }
        guard unsafe Glibc.rename(beside, path) == 0 else { throw FileFailure("write \(path)") }
        try syncParent(of: path)
    }

    /// Renames a file or folder on the same disk. A folder can replace an empty folder only.
    package static func rename(_ path: String, to other: String) throws(FileFailure) {
        guard unsafe Glibc.rename(path, other) == 0 else {
            throw FileFailure("rename \(path) to \(other)")
        }
        try syncParent(of: other)
    }

    /// Gives a file another name on the same disk, which no file may have. After a crash in between it has
    /// both names.
    package static func rename(_ path: String, toNew other: String) throws(FileFailure) {
        // link and unlink keep nothing of the paths, which are lent for the calls.
        if unsafe link(path, other) == 0 {
            _ = unsafe unlink(path)
            return try syncParent(of: other)
        }
        guard errno == EPERM || errno == EOPNOTSUPP else {
            throw FileFailure("make the file \(other)")
        }
        // A file system without hard links.
        guard !exists(other) else { throw FileFailure("make the file \(other)", code: EEXIST) }
        try rename(path, to: other)
    }

    /// The size of a file in bytes; nil if there is none.
    package static func size(_ path: String) -> Int64? {
        var status = stat()
        // stat fills the struct that it is given, which lives until the call returns.
        return unsafe stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// The free bytes for this user on the disk of `path`; nil if they are not known.
    package static func freeBytes(_ path: String) -> UInt64? {
        var status = statvfs()
        // statvfs fills the struct that it is given, which lives until the call returns.
        guard unsafe statvfs(path, &status) == 0 else { return nil }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }

    package static func remove(_ path: String) { _ = unsafe unlink(path) }

    /// Removes a folder and its contents.
    package static func removeFolder(_ path: String) throws(FileFailure) {
        for name in names(in: path) {
            let inner = "\(path)/\(name)"
            if isFolder(inner) { try removeFolder(inner) } else { remove(inner) }
        }
        guard unsafe rmdir(path) == 0 || errno == ENOENT else {
            throw FileFailure("remove the folder \(path)")
        }
    }

    package static func names(in path: String) -> [String] {
        // The stream is closed before the function returns; each name is copied while its entry
        // is valid, that is until the next call of readdir.
        guard let stream = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { text in
                    unsafe String(cString: text)
                }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    private static func mode(_ path: String) -> UInt32? {
        var status = stat()
        // lstat fills the struct that it is given, which lives until the call returns.
        return unsafe lstat(path, &status) == 0 ? status.st_mode : nil
    }
}

/// A failed system call on a file, or a file that is of another kind than expected.
package struct FileFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The action as a verb phrase, for example `create the folder /data`.
    package let action: String
    /// The `errno` of the call.
    package let code: CInt
    /// The system's text for the code, or what is wrong with the file.
    package let reason: String

    /// Makes a failure; by default with the current `errno`.
    package init(_ action: String, code: CInt = errno) {
        self.action = action
        self.code = code
        // The C string belongs to the C library and is copied at once.
        reason = unsafe String(cString: strerror(code))
    }

    /// The failure to open a pipe, a socket, a device, a folder or a link as a file. To read a pipe would block.
    init(noRegularFile action: String) {
        self.action = action
        code = EINVAL
        reason =
            "it is a pipe, a socket, a device, a folder or a link, and has to be a regular file"
    }

    package var isDiskFull: Bool { code == ENOSPC }

    package var description: String { "Cannot \(action): \(reason)." }
}

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

    /// Whether the disk has room for so many bytes, by writing them to the lock's file and cutting them off again.
    package func hasRoom(bytes: Int) -> Bool {
        let zeros = [UInt8](repeating: 0, count: bytes)
        // pwrite reads at most as many bytes as the array has.
        let written = unsafe pwrite(descriptor, zeros, zeros.count, 0)
        let isFull = written < 0 ? errno == ENOSPC || errno == EDQUOT : written < zeros.count
        _ = ftruncate(descriptor, 0)
        return !isFull
    }

    package func release() { close(descriptor) }
}
