import TablesProtocol

/// A row as the backend sent it: the user's columns sliced out of the text, system properties
/// apart and raw, since `updatedAt` and `version` go back as they came.
struct RemoteRow: Sendable, Hashable {
    var id: ItemID
    /// The user's columns only, in the order they came.
    var columns: Columns
    var createdAt: String?
    var updatedAt: String?
    var version: String?
    /// Nil where the backend does not say: the table deletes hard.
    var deleted: Bool?
    /// Whether each of its columns is in every row of its table, null where none was written: the server
    /// keeps the table's rows in an SQL table whose columns come with the writes.
    var sharesColumns = false

    var isDeleted: Bool { deleted == true }

    /// Takes an object of the wire apart; nil when it has no usable id.
    /// - Parameter etag: the version of the response's `ETag`, which stands in for one in the body.
    init?(_ object: Columns, generation: Generation, etag: String? = nil) {
        var kept: [Columns.Column] = []
        var id: ItemID?
        var version = etag
        for column in object.all {
            if column.name == "id" {
                id = Self.id(column.value)
                continue
            }
            switch SystemProperty(named: column.name, in: generation) {
            case .createdAt: createdAt = column.value.string
            case .updatedAt: updatedAt = column.value.string
            case .version: version = column.value.string ?? version
            case .deleted: deleted = column.value.value.bool
            case nil: kept.append(column)
            }
        }
        guard let id else { return nil }
        self.id = id
        columns = Columns(kept)
        self.version = version
    }

    init(
        id: ItemID, columns: Columns, createdAt: String? = nil, updatedAt: String? = nil,
        version: String? = nil, deleted: Bool? = nil
    ) {
        self.id = id
        self.columns = columns
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.version = version
        self.deleted = deleted
    }

    private static func id(_ value: JSONText) -> ItemID? {
        if let text = value.string { return try? ItemID(text) }
        return value.value.integer.map { ItemID($0) }
    }
}
