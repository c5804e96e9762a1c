/// A page of a list, as items or as text.
public protocol ListedPage: Sendable {
    /// Whether it has no rows.
    var isEmpty: Bool { get }
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

extension ItemPage: ListedPage {
    /// Whether it has no items.
    public var isEmpty: Bool { items.isEmpty }
}
