public import TablesProtocol

/// An index of a table as the operator sees it: one that is there, or one that lists asked for.
public struct IndexStatus: Sendable, Hashable {
    /// Its number.
    public var id: Int64
    /// The columns: those held to one value, then the order.
    public var columns: [String]
    /// Costly lists that asked for it, of late.
    public var queries: Int
    /// When it was last asked for or used, to the minute.
    public var seenAt: Instant
    /// When it was made; nil while it is only asked for.
    public var builtAt: Instant?
    /// How much of it is made, in percent; nil while nobody makes it.
    public var percent: Int?
    /// Why it could not be made when a person last wanted it, in plain words.
    public var problem: String?
}

/// Which index a person wants.
public enum IndexChoice: Sendable, Hashable {
    /// One that lists asked for, by its number.
    case known(Int64)
    /// The one that a query needs.
    case query(TableQuery)
}

/// What became of the wish to make an index.
public enum IndexStart: Sendable, Hashable {
    /// It is being made, under this number.
    case started(Int64)
    /// It is there already, under this number.
    case present(Int64)
    /// Another one is being made.
    case busy
    case unknownTable
    case unknownIndex
    /// The table has as many as it may have.
    case tooMany
    /// The query is one that no index can serve, or that the standing ones serve.
    case notServed
}
