/// What a store's file holds, as it was found without changing it.
public struct StoreContents: Sendable, Hashable {
    /// The version of its tables; an older one is migrated when the store is opened.
    public var version: Int
    /// The backend whose work it holds; nil when none was ever asked.
    public var backend: String?
    /// The names of the tables.
    public var tables: [String]
    /// Items that are not deleted, of all tables.
    public var items: Int
    /// The account of every accepted write.
    public var ledger: Ledger
    /// What is wrong, in sentences; empty when all is well.
    public var faults: [String]
}
