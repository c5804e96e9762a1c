public import TablesProtocol

/// What a list gives, as items.
public typealias ListOutcome = ListAnswer<ItemPage>

/// What a list gives, its rows as items or as text.
public enum ListAnswer<Page: Sendable>: Sendable {
    case page(Page)
    /// What is here so far: the table's first pull has not completed.
    case partial(Page)
    case unknownTable
    /// The query names what this table cannot be asked for.
    case invalid(ODataError)
    /// The query was cut: by its budget of steps, by ``StoreLimits/readMilliseconds``, or because no one
    /// wants the rows any more. After the short budget it can run again where it may take its time.
    case overBudget
    /// The store failed, for this reason.
    case failed(StoreError)
}

/// What a look-up by id gives.
public enum GetOutcome: Sendable, Hashable {
    case item(Item, state: ItemState)
    case missing
    /// Only the tombstone is left.
    case gone(Item)
    case unknownTable
    /// Not here, and until the first pull it is not known whether it exists.
    case unknownWhilePartial
    /// The store failed, for this reason.
    case failed(StoreError)
}

/// How an item stands to the backend.
public enum ItemState: String, Sendable, Hashable, CaseIterable {
    case synced, pending, conflict, quarantined
}
