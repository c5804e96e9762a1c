public import TablesProtocol

/// What a look-up by id gives.
public enum GetOutcome: Sendable, Hashable {
    case item(Item, state: ItemState)
    case missing
    /// Only the tombstone is left.
    case gone(Item)
    case unknownTable
    /// Not here, and until the first pull nobody knows whether it exists.
    case unknownWhilePartial
    /// The store failed, for this reason.
    case failed(StoreError)
}
