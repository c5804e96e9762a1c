import TablesProtocol

/// Which rows of a table, and in which order.
package struct RowQuery: Sendable {
    /// In which order rows are that no term tells apart.
    enum LastOrder: Sendable {
        case id
        /// The order of the inserts, where there is no term at all.
        case insertion
    }

    /// The table. One that is not there has no rows.
    var table: TableName
    /// What holds for them; nil for all.
    var filter: Expression?
    /// The terms of their order.
    var orderBy: [Ordering] = []
    /// The order of rows that the terms leave equal.
    var lastOrder = LastOrder.id
    /// How many are left out.
    var skip = 0
    /// How many there are at most after those.
    var limit = Int.max
    /// Whether tombstones are among them.
    var includesDeleted = false
    /// Whether all that match are counted.
    var counts = false
    /// What comparisons with null are.
    var nulls = NullComparison.unknown
    /// Whether `updatedAt` is compared to 100 ns, and else to milliseconds.
    var isExact = false
    /// The instant that `now()` is.
    var now: Instant
}

/// The rows of a query.
package struct RowList: Sendable, Hashable {
    /// The rows after those left out, at most as many as the limit.
    var rows: [Row] = []
    /// How many match regardless of skip and limit; nil when not asked for.
    var count: Int?
}
