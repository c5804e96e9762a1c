import TablesProtocol

/// A table as the backend stores it: its options and what was learnt from writes.
struct TableRecord: Sendable {
    /// The key in the database.
    var key: Int64
    /// Its name as first spelled.
    var name: TableName
    /// What it is like.
    var options: TableOptions
    /// The last `updatedAt` given, in ticks.
    var lastStamp: Int64
    /// The last integer id given.
    var lastNumber: Int64
    /// The columns seen in writes, after the declared ones, in order.
    var seenColumns: [TableOptions.Column]

    /// Whether rows have an id and the user's columns only: integer-id tables of the first generation.
    func isPlain(_ generation: Generation) -> Bool {
        options.idKind == .integer && generation == .mobileServices
    }

    /// All columns known.
    var knownColumns: [TableOptions.Column] { options.columns + seenColumns }
}
