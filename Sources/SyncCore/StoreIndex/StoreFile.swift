/// A store's file as the system tells of it. Whatever writes to the file, or puts another one in its place,
/// leaves another value: the time of change cannot be set.
public struct StoreFile: Sendable, Hashable {
    /// The number of its inode.
    public var inode: Int64
    /// How large it is.
    public var bytes: Int64
    /// When its content or its inode last changed, in nanoseconds since 1970.
    public var changedAt: Int64

    /// Makes it from its parts.
    public init(inode: Int64, bytes: Int64, changedAt: Int64) {
        self.inode = inode
        self.bytes = bytes
        self.changedAt = changedAt
    }
}
