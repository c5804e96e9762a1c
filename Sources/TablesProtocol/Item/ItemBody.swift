/// The JSON object that a client sent with an insert, update or replace, taken apart.
public struct ItemBody: Sendable, Hashable {
    /// The id in the body; nil when absent, null, empty, or 0.
    public var id: ItemID?
    /// The user's columns in the order they came.
    public var columns: Columns
    /// The version in the body: a concurrency check where no If-Match came.
    public var version: String?
    /// The deleted mark in the body.
    public var deleted: Bool?
    /// True when the body had system properties, which were taken out.
    public var hadReservedProperties: Bool

    /// Makes a body from its parts.
    public init(
        id: ItemID? = nil, columns: Columns, version: String? = nil, deleted: Bool? = nil,
        hadReservedProperties: Bool = false
    ) {
        self.id = id
        self.columns = columns
        self.version = version
        self.deleted = deleted
        self.hadReservedProperties = hadReservedProperties
    }
}
