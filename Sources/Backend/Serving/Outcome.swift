import TablesProtocol

/// The outcome of a request on a table; ``Answerer`` makes the response.
enum Outcome: Sendable {
    case list(RowPage)
    case found(Row)
    case notModified(Row)
    /// With the table, which may have new columns.
    case inserted(Row, sent: Columns, StoredTable)
    /// With the table, which may have new columns.
    case changed(Row, sent: Columns, StoredTable)
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
    /// Another writer was faster, and nothing was written: the request has to be decided anew.
    case overtaken
}

/// One page of a list.
struct RowPage: Sendable {
    /// The rows.
    var rows: [Row]
    /// The number of matching rows regardless of skip and top; nil when it was not asked for.
    var count: Int?
    /// The number of rows that were skipped.
    var skip: Int
    /// The `$top` asked for.
    var top: Int?
    /// The `$select` asked for.
    var select: Set<String>?
    /// Whether more rows match than skip and this page.
    var hasMore: Bool
    /// The id in the link to the next page, where lists are paged by links alone.
    var continuation: String?
    /// See ``RowList/deletionsAfter``.
    var deletionsAfter: Instant?

    /// The name of the link's pair for that id.
    static let continuationName = "NextRowKey"
}
