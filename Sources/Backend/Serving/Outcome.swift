import TablesProtocol

/// What became of a request on a table, before it is put into words.
enum Outcome: Sendable {
    case list(RowPage)
    case found(Row)
    case notModified(Row)
    case inserted(Row, sent: Columns)
    case changed(Row, sent: Columns)
    /// Nothing was to be changed, and nothing was looked up.
    case unchanged(id: String)
    case deleted(Row)
    /// More than one at once.
    case deletedAll([Row])
    case undeleted(Row)
    case exists(Row, sent: [UInt8])
    case preconditionFailed(Row)
    case versionConflict(Row)
    case missing(id: String)
    case gone(id: String)
    case refused(Refusal)
}

/// One page of a list.
struct RowPage: Sendable {
    /// The rows.
    var rows: [Row]
    /// How many match regardless of skip and top; nil when not asked for.
    var count: Int?
    /// How many rows were skipped.
    var skip: Int
    /// The `$top` asked for.
    var top: Int?
    /// The `$select` asked for.
    var select: Set<String>?
    /// Whether more rows match than skip and this page.
    var hasMore: Bool
}
