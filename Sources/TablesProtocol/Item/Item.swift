/// An item as a client sees it, in no particular generation.
public struct Item: Sendable, Hashable {
    /// Its identity.
    public var id: ItemID
    /// The user's columns only, without id and system properties.
    public var columns: Columns
    /// When it was made; nil where the server does not say (third generation).
    public var createdAt: Instant?
    /// When it last changed, strictly increasing in a table.
    public var updatedAt: Instant
    /// The opaque version, without quotes.
    public var version: String
    /// True when only a tombstone is left.
    public var deleted: Bool

    /// Makes an item from its parts.
    public init(
        id: ItemID, columns: Columns, createdAt: Instant?, updatedAt: Instant, version: String,
        deleted: Bool = false
    ) {
        self.id = id
        self.columns = columns
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.version = version
        self.deleted = deleted
    }
}
