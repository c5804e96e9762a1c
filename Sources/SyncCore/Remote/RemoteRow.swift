import TablesProtocol

/// A row as the backend sent it. The system properties are separate and keep the backend's text, because
/// `updatedAt` and `version` are sent back unchanged.
struct RemoteRow: Sendable, Hashable {
    var id: ItemID
    /// The user's columns, in the order received.
    var columns: Columns
    var createdAt: String?
    var updatedAt: String?
    var version: String?
    /// Whether the row is deleted; nil if the backend does not say, because the table deletes hard.
    var deleted: Bool?
    /// Whether every row of the table has all its columns, null where none was written. This holds for
    /// servers that keep the table in SQL and add columns when they are first written.
    var sharesColumns = false

    var isDeleted: Bool { deleted == true }

    /// Reads a JSON object of the wire; nil if it has no usable id.
    /// - Parameter etag: the version in the response's `ETag`, used if the body has none.
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
