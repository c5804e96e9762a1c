/// What a list request asks for, in one form for all generations.
public struct TableQuery: Sendable, Hashable {
    /// `$filter`.
    public var filter: Expression?
    /// `$orderby`; the id is added as the last term when it is compiled.
    public var orderBy: [Ordering]
    /// `$top`, as asked; the page size is the server's own.
    public var top: Int?
    /// `$skip`.
    public var skip: Int
    /// `__after`: only items changed later than this, whatever ``skip`` says. Next links in the order
    /// of change carry it: an item that changes while a client pages moves to the end of that order,
    /// and one that did not would be skipped in its place.
    public var after: Instant?
    /// `$select`; nil for all columns.
    public var select: [Expression.Column]?
    /// Whether the answer carries the total (`$inlinecount=allpages`, `$count=true`).
    public var count: Bool
    /// `__includeDeleted=true`.
    public var includeDeleted: Bool
    /// What comparisons with null are to the client that asks.
    public var nulls: NullComparison

    /// A query; without arguments, all items that are not deleted.
    public init(
        filter: Expression? = nil, orderBy: [Ordering] = [], top: Int? = nil, skip: Int = 0,
        after: Instant? = nil, select: [Expression.Column]? = nil, count: Bool = false,
        includeDeleted: Bool = false, nulls: NullComparison = .unknown
    ) {
        self.filter = filter
        self.orderBy = orderBy
        self.top = top
        self.skip = skip
        self.after = after
        self.select = select
        self.count = count
        self.includeDeleted = includeDeleted
        self.nulls = nulls
    }
}
