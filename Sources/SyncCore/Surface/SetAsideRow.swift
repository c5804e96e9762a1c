public import TablesProtocol

/// A row of the backend that is not here, since it cannot be taken.
public struct SetAsideRow: Sendable, Hashable {
    /// Its id, where one can be read; it may be one that no item can have.
    public var id: String?
    /// As the backend sent it, at most ``SyncLimits/setAsideBytes`` bytes of it.
    public var text: String
    /// Why it cannot be taken: a sentence.
    public var reason: String
    /// When it first came.
    public var since: Instant
    /// When it last came.
    public var seenAt: Instant
}
