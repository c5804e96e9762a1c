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
