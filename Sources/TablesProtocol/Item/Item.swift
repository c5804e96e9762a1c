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

/// The properties that a server keeps for each item, besides the id.
public enum SystemProperty: Sendable, Hashable, CaseIterable {
    case createdAt, updatedAt, version, deleted

    /// The name on the wire; nil where the generation does not have the property.
    public func name(in generation: Generation) -> String? {
        switch (generation, self) {
        case (.mobileServices, .createdAt): "__createdAt"
        case (.mobileServices, .updatedAt): "__updatedAt"
        case (.mobileServices, .version): "__version"
        case (.mobileServices, .deleted): "__deleted"
        case (.datasync, .createdAt): nil
        case (.mobileApps, .createdAt): "createdAt"
        case (.mobileApps, .updatedAt), (.datasync, .updatedAt): "updatedAt"
        case (.mobileApps, .version), (.datasync, .version): "version"
        case (.mobileApps, .deleted), (.datasync, .deleted): "deleted"
        }
    }

    /// The property with this name on the wire, whatever its case; nil for a user's column.
    public init?(named name: String, in generation: Generation) {
        let wanted = name.lowercased()
        let found = Self.allCases.first { $0.name(in: generation)?.lowercased() == wanted }
        guard let found else { return nil }
        self = found
    }
}

/// One answer to a list: some items, the count where asked for, and whether more follow.
public struct ItemPage: Sendable, Hashable {
    /// The items in the order asked for.
    public var items: [Item]
    /// How many match the filter regardless of skip and top; nil when not asked for.
    public var count: Int?
    /// True when more items match within the client's own top.
    public var hasMore: Bool
    /// Whether the items' `updatedAt` are the store's own stamps, by which a next page can go on.
    public var hasOwnStamps: Bool

    /// Makes a page.
    public init(
        items: [Item], count: Int? = nil, hasMore: Bool = false, hasOwnStamps: Bool = true
    ) {
        self.items = items
        self.count = count
        self.hasMore = hasMore
        self.hasOwnStamps = hasOwnStamps
    }
}
