public import TablesProtocol

/// A column whose value is the id of an item of another table. That item is inserted before those
/// that name it, and deleted after them.
public struct ParentLink: Sendable, Hashable, CustomStringConvertible {
    /// The table of the items that are named.
    public var table: TableName
    /// The column that names one.
    public var column: String

    /// Makes a link from its parts.
    public init(table: TableName, column: String) {
        self.table = table
        self.column = column
    }

    /// Reads `table.column`; nil for what is none.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let table = TableName(parts[0]), !parts[1].isEmpty else {
            return nil
        }
        self.init(table: table, column: String(parts[1]))
    }

    /// `table.column`.
    public var description: String { "\(table.text).\(column)" }
}
