public import TablesProtocol

/// The part of a table that is copied: the rows that a filter gives, as in
/// `--table 'todoitem?$filter=complete eq false'`.
///
/// The backend decides by its own rules which rows these are. Lists within the part are answered from the
/// store. The backend answers all others.
public struct TablePart: Sendable, Hashable {
    /// The query string as it was written.
    public let text: String
    /// The rows, as a pull requests them.
    let query: PullQuery
    /// The conditions of the filter.
    private let conditions: Set<Expression>
    /// The same for clients of the third generation, if the backend is an earlier one, for which null fits
    /// less (``NullComparison``); nil if there are none.
    private let strictConditions: Set<Expression>?

    /// Reads a query string with `$filter` or query pairs of the developer's own, or a condition alone.
    /// - Throws: ``ODataError`` for what no pull can request, for a query of all rows, and for a filter by
    ///   which rows leave the part although they did not change, or by the store's own times and versions.
    public init(parsing text: String) throws(ODataError) {
        let query = try PullQuery(parsing: text)
        guard !query.key.isEmpty else { throw Self.refusal("It gives all rows") }
        if query.filter?.dependsOnTime == true {
            throw Self.refusal("Rows leave it as time goes by, and a copy learns only of changes")
        }
        let own: [SystemProperty] = [.updatedAt, .version, .deleted]
        if let property = own.first(where: {
            query.filter?.columns.contains(.system($0)) == true
        }) {
            throw Self.refusal(
                "A part is named by other columns than \(property.name(in: .mobileApps) ?? "")")
        }
        self.text = text
        self.query = query
        conditions = query.filter?.conjuncts ?? []
        let strict = TableQuery(filter: query.filter).translated(for: .datasync)
        strictConditions = strict.map { $0.filter?.conjuncts ?? [] }
    }

    /// Reads what the store keeps; nil for a table that is copied as a whole.
    init?(stored text: String?) {
        guard let text else { return nil }
        try? self.init(parsing: text)
    }

    private static func refusal(_ reason: String) -> ODataError {
        ODataError(option: "$filter", reason: reason, position: 0)
    }

    /// A client's list as it is asked of the store, if all its rows are within the part; else nil.
    ///
    /// A list of a client that syncs also shows the tombstones of rows that left the part, although their
    /// columns may not fit the filter any more.
    /// - Parameter generation: the backend's when it gave the rows; nil if that is not known.
    func asked(_ list: TableQuery, from generation: Generation?) -> TableQuery? {
        let isLoose = list.nulls == .unknown || generation == .datasync
        // A script may leave rows out by the part's own pairs, which such a list does not have.
        guard query.parameters.isEmpty, let needed = isLoose ? conditions : strictConditions,
            let filter = list.filter
        else { return nil }
        let given: [Expression] = if case .logical(.and, let all) = filter { all } else { [filter] }
        guard needed.isSubset(of: filter.conjuncts) else { return nil }
        guard list.includeDeleted else { return list }
        let isDeleted = Expression.binary(
            .equal, .column(.system(.deleted)), .literal(.boolean(true)))
        let (own, others) = (
            given.filter { $0.conjuncts.isSubset(of: needed) },
            given.filter { !$0.conjuncts.isSubset(of: needed) }
        )
        var asked = list
        let fits = Expression.joined(.and, own).flatMap { Expression.joined(.or, [$0, isDeleted]) }
        asked.filter = Expression.joined(.and, others + [fits].compactMap(\.self))
        return asked
    }
}
