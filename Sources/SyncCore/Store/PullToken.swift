import TablesProtocol

/// How far the incremental pull of one table, query and filter has come.
struct PullToken: Sendable, Hashable {
    let rowID: Int64
    /// The raw updatedAt of the last row seen; nil before the first.
    var updatedAt: String?
    /// The id of the last row seen.
    var lastID: String?
    /// Whether a pull has come to its end once.
    var isComplete: Bool
    var lastRunAt: Instant?
}
