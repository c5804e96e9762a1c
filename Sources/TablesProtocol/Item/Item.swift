/// An item as a client sees it, independent of the generation.
public struct Item: Sendable, Hashable {
    public var id: ItemID
    /// The user's columns only, without id and system properties.
    public var columns: Columns
    /// When it was created; nil if the server does not say (third generation).
    public var createdAt: Instant?
    /// When it last changed. Strictly increasing in a table.
    public var updatedAt: Instant
    /// The opaque version, without quotes.
    public var version: String
    /// Whether only a tombstone is left.
    public var deleted: Bool

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

/// The properties of an item that the server sets, besides the id.
public enum SystemProperty: Sendable, Hashable, CaseIterable {
    case createdAt, updatedAt, version, deleted

    /// The name on the wire; nil if the generation does not have the property.
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

    /// The property with this name on the wire, in any case; nil for a user's column.
    public init?(named name: String, in generation: Generation) {
        let found = Self.allCases.first { property in
            // Most names differ in length already.
            guard let known = property.name(in: generation), known.utf8.count == name.utf8.count
            else { return false }
            return known.lowercased() == name.lowercased()
        }
        guard let found else { return nil }
        self = found
    }
}

public struct ItemPage: Sendable, Hashable {
    /// The items in the requested order.
    public var items: [Item]
    /// The number of items that match the filter, regardless of skip and top; nil if not requested.
    public var count: Int?
    /// Whether more items match within the client's own `$top`.
    public var hasMore: Bool
    /// Whether the items' `updatedAt` are the store's own stamps, from which the next page can continue.
    public var hasOwnStamps: Bool
    /// The backend's own query for the next page, still encoded; nil if the client's own query leads there.
    public var next: String?

    /// Makes a page from its parts.
    public init(
        items: [Item], count: Int? = nil, hasMore: Bool = false, hasOwnStamps: Bool = true,
        next: String? = nil
    ) {
        self.items = items
        self.count = count
        self.hasMore = hasMore
        self.hasOwnStamps = hasOwnStamps
        self.next = next
    }
}
