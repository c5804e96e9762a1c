import TablesProtocol

/// The backend's row of an item, as far as the store knows it. ``RemoteRow`` is a row as it came in an answer.
struct ServerSide: Sendable, Hashable {
    /// The user's columns; nil if the backend has no row.
    var columns: Columns?
    /// Whether the backend keeps the row marked as deleted.
    var isDeleted = false
    /// The backend's own text.
    var version: String?
    var updatedAt: String?
    var createdAt: Instant? { createdAtText.flatMap { Instant(parsing: $0) } }
    /// The backend's own text; nil where it was not in the answer.
    var createdAtText: String?

    /// Whether the backend has the row, and it is not deleted.
    var isLive: Bool { columns != nil && !isDeleted }

    /// The backend has no row.
    static let none = ServerSide()

    init() {}

    /// A row of which only the columns are known.
    init(columns: Columns?) { self.columns = columns }

    /// Reads a row of the backend; nil means that the backend has none.
    init(_ remote: RemoteRow?, columns: Columns?) {
        guard let remote else { return }
        self.columns = columns ?? remote.columns
        isDeleted = remote.isDeleted
        version = remote.version
        updatedAt = remote.updatedAt
        createdAtText = remote.createdAt
    }

    /// Reads the backend's row that is stored beside local changes.
    init(shadowOf row: ItemRow) {
        columns = row.shadow
        isDeleted = row.serverDeleted
        version = row.serverVersion
        updatedAt = row.serverUpdatedAt
    }

    /// Reads the backend's row of an item that may have local changes or none.
    init(knownOf row: ItemRow) {
        self.init(shadowOf: row)
        columns = row.known
    }
}
