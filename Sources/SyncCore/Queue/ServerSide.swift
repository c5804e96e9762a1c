import TablesProtocol

/// The backend's side of an item, as far as it is known.
struct ServerSide: Sendable, Hashable {
    /// The user's columns; nil when the backend has no row.
    var columns: Columns?
    /// The backend keeps the row marked as deleted.
    var isDeleted = false
    /// Raw.
    var version: String?
    var updatedAt: String?
    var createdAt: Instant?

    /// Whether clients of the backend see the item.
    var isLive: Bool { columns != nil && !isDeleted }

    /// The backend has no row.
    static let none = ServerSide()

    init() {}

    /// A row of which nothing but its columns is known.
    init(columns: Columns?) { self.columns = columns }

    /// What a row of the backend says; nil means that it has none.
    init(_ remote: RemoteRow?, columns: Columns?) {
        guard let remote else { return }
        self.columns = columns ?? remote.columns
        isDeleted = remote.isDeleted
        version = remote.version
        updatedAt = remote.updatedAt
        createdAt = remote.createdAt.flatMap { Instant(parsing: $0) }
    }

    /// What was last known of the backend while the row had local changes.
    init(shadowOf row: ItemRow) {
        columns = row.shadow
        isDeleted = row.serverDeleted
        version = row.serverVersion
        updatedAt = row.serverUpdatedAt
    }
}
