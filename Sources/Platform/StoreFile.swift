import Glibc

/// A store's file as the file system describes it. Writing to the file or replacing it changes the value,
/// because the time of change cannot be set.
public struct StoreFile: Sendable, Hashable {
    /// The file's inode number.
    public var inode: Int64
    /// The file's size in bytes.
    public var bytes: Int64
    /// When its content or its inode last changed, in nanoseconds since 1970.
    public var changedAt: Int64

    public init(inode: Int64, bytes: Int64, changedAt: Int64) {
        self.inode = inode
        self.bytes = bytes
        self.changedAt = changedAt
    }

    /// The inode, size and time of change of the file at a path; nil if there is none.
    public init?(path: String) {
        var status = stat()
        // lstat fills the struct that it is given, which lives until the call returns.
        guard unsafe lstat(path, &status) == 0 else { return nil }
        let seconds = Int64(status.st_ctim.tv_sec), nanoseconds = Int64(status.st_ctim.tv_nsec)
        self.init(
            inode: Int64(truncatingIfNeeded: status.st_ino), bytes: Int64(status.st_size),
            changedAt: seconds &* 1_000_000_000 &+ nanoseconds)
    }
}
