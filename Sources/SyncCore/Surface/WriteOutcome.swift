public import TablesProtocol

/// How a local write ended. The first four are durable when they are told.
public enum WriteOutcome: Sendable, Hashable {
    case inserted(Item)
    case updated(Item)
    case deleted(Item)
    case undeleted(Item)
    /// There is no such item.
    case missing
    /// Only the tombstone is left.
    case gone(Item)
    /// The item is not as the write's conditions want it.
    case preconditionFailed(Item)
    /// An insert of an id that is taken.
    case alreadyExists(Item)
    /// The item is not here, and until the first pull nobody knows whether it exists.
    case unknownWhilePartial
    /// Tables are restricted and this is none of them.
    case tableNotAllowed
    /// The write makes no sense, for this reason.
    case invalid(String)
    /// The disk is full; nothing was written.
    case storageFull
    /// The store cannot be written; nothing was.
    case readOnly
    /// Too many writes wait already; nothing was written.
    case busy
    /// The store failed, for this reason; nothing was written.
    case failed(String)
}
