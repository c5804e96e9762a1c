public import TablesProtocol

/// What the routes need to know of a table before they answer.
public struct TableSettings: Sendable, Hashable {
    /// The name as first spelled.
    public var name: TableName
    /// What the ids are.
    public var idKind: IDKind
    /// Whether a pull has completed once.
    public var isComplete: Bool
    /// When a pull last completed.
    public var lastPull: Instant?
    /// How reads are answered.
    public var readPolicy: ReadPolicy
    /// When writes are answered.
    public var writePolicy: WritePolicy
    /// Whether all identities share the anonymous store's table.
    public var isPublic: Bool

    /// The columns that every row has on the backend, null where none was written.
    public var columns: TableColumns

    init(_ record: TableRecord) {
        name = record.name
        idKind = record.idKind
        isComplete = record.isComplete
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
    /// From the store, which is then refreshed behind.
    case revalidate
    /// From the backend; from the store when it cannot be reached.
    case remoteFirst = "remote-first"
}

/// When writes to a table are answered.
public enum WritePolicy: String, Sendable, Hashable, CaseIterable {
    /// Once they are durable here.
    case local
    /// Once the backend has judged them, or after a bounded wait.
    case writeThrough = "write-through"
}

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
