public import TablesProtocol

/// The settings of a table that decide how a request is answered.
public struct TableSettings: Sendable, Hashable {
    /// The name as first spelled.
    public var name: TableName
    /// The kind of the ids.
    public var idKind: IDKind
    /// Whether a pull has completed once.
    public var isComplete: Bool
    /// Whether only a part of its rows is copied (``TablePart``).
    public var isInPart: Bool
    /// When a pull last completed.
    public var lastPull: Instant?
    /// How reads are answered.
    public var readPolicy: ReadPolicy
    /// When writes are answered.
    public var writePolicy: WritePolicy
    /// Whether all identities share the anonymous store's table.
    public var isPublic: Bool

    /// The columns that every row on the backend has, null where nothing was written.
    public var columns: TableColumns

    init(_ record: TableRecord) {
        name = record.name
        idKind = record.idKind
        isComplete = record.isComplete
        isInPart = record.part != nil
        lastPull = record.lastPullAt
        readPolicy = record.readPolicy
        writePolicy = record.writePolicy
        isPublic = record.isPublic
        columns = record.spellings.columns
    }
}

/// How reads of a table are answered.
public enum ReadPolicy: String, Sendable, Hashable, CaseIterable {
    /// From the store.
    case local
    /// From the store, which is refreshed afterwards.
    case revalidate
    /// From the store after a pull; without the pull if the backend cannot be reached or is too slow.
    case remoteFirst = "remote-first"
}

/// When writes to a table are answered.
public enum WritePolicy: String, Sendable, Hashable, CaseIterable {
    /// When the write is on disk.
    case local
    /// When the backend has judged the write, or after a bounded wait.
    case writeThrough = "write-through"
}

/// A column whose value is the id of an item of another table, its parent. The parent is inserted before
/// its children and deleted after them.
public struct ParentLink: Sendable, Hashable, CustomStringConvertible {
    /// The parent's table.
    public var table: TableName
    /// The column with the parent's id.
    public var column: String

    /// Makes a link from its parts.
    public init(table: TableName, column: String) {
        self.table = table
        self.column = column
    }

    /// Reads `table.column`; nil for any other text.
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
