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
    /// `$select`; nil for all columns.
    public var select: [Expression.Column]?
    /// Whether the answer carries the total (`$inlinecount=allpages`, `$count=true`).
    public var count: Bool
    /// `__includeDeleted=true`.
    public var includeDeleted: Bool

    /// A query; without arguments, all items that are not deleted.
    public init(
        filter: Expression? = nil, orderBy: [Ordering] = [], top: Int? = nil, skip: Int = 0,
        select: [Expression.Column]? = nil, count: Bool = false, includeDeleted: Bool = false
    ) {
        self.filter = filter
        self.orderBy = orderBy
        self.top = top
        self.skip = skip
        self.select = select
        self.count = count
        self.includeDeleted = includeDeleted
    }
}
