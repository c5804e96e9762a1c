/// The SQL columns that hold an item, as a ``SQLCompiler`` names them.
///
/// `id` TEXT · `columns` TEXT, a JSON object of the user's columns · `created_at` and `stamp`
/// INTEGER, milliseconds since 1970 (`stamp` is shown as `updatedAt`) · `version` TEXT ·
/// `deleted` INTEGER 0 or 1.
public struct ItemSQLSchema: Sendable, Hashable {
    /// The alias of the SQL table, or nil for bare names.
    public let alias: String?
    /// Whether the table's ids are integers that the backend assigns, ordered as numbers.
    public let hasIntegerIDs: Bool

    /// The columns of one SQL table.
    public init(alias: String? = nil, hasIntegerIDs: Bool = false) {
        self.alias = alias
        self.hasIntegerIDs = hasIntegerIDs
    }
}
