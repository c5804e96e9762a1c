public import TablesProtocol

/// A row as the backend had it when this store last heard of it.
public struct ServerRow: Sendable, Hashable {
    /// Its id.
    public var id: ItemID
    /// The user's columns.
    public var columns: Columns
    /// The backend's own text; nil where it gave none.
    public var createdAt: String?
    /// The backend's own text; nil where it gave none.
    public var updatedAt: String?
    /// The backend's own text; nil where it gave none.
    public var version: String?
    /// Whether the backend keeps it marked as deleted, or this store has deleted it there.
    public var deleted: Bool
    /// Whether this store has deleted it, and the backend has given nothing of it since. Then the texts are
    /// those of the row before, and the deletion is later than ``updatedAt``; nil where the delete was sent
    /// without a version, so that the backend may have had a newer row.
    public var deletedSince: Bool
}

/// The backend's rows of a table as they are known here, without what clients have changed since.
///
/// A row with open operations is the one beside them. A row that this store has deleted there is one of them,
/// as long as its tombstone is kept. A row that the backend never had, or that it has not given any more for
/// another reason, is none: it may have left a query only.
struct ServerRows {
    let transaction: Transaction

    private static let condition = """
        table_id = ? AND (deleted_after IS NOT NULL
          OR pending IS NULL AND (deleted = 0 OR server_deleted = 1)
          OR pending IS NOT NULL AND shadow_columns IS NOT NULL)
        """

    /// The rows after an id, in the order of the ids' bytes.
    func page(of table: TableRecord, after id: String, limit: Int) throws -> [ServerRow] {
        try transaction.all(
            "\(ItemRow.select) WHERE \(Self.condition) AND id > ? ORDER BY id LIMIT ?",
            [table.id, id, limit]
        ) { Self.row(ItemRow($0, idKind: table.idKind)) }
    }

    /// How many there are.
    func count(of table: TableRecord) throws -> Int {
        Int(
            try transaction.integer(
                "SELECT count(*) FROM items WHERE \(Self.condition)", [table.id]) ?? 0)
    }

    private static func row(_ row: ItemRow) -> ServerRow {
        let isDeletedSince = row.deletedAfter != nil
        let before = row.deletedAfter.flatMap { $0.isEmpty ? nil : $0 }
        return ServerRow(
            id: row.id, columns: (row.pending == nil ? row.columns : row.shadow) ?? Columns(),
            createdAt: row.serverCreatedAt,
            updatedAt: isDeletedSince ? before : row.serverUpdatedAt,
            version: row.serverVersion, deleted: isDeletedSince || row.serverDeleted,
            deletedSince: isDeletedSince)
    }
}

extension Store {
    /// A page of the backend's rows of a table as they are known here, in the order of the ids' bytes; nil
    /// when there is no such table.
    /// - Parameters:
    ///   - after: the id before the first one; nil for the beginning.
    ///   - limit: the most rows of the page, bounded by ``StoreLimits/operatorPage``.
    ///   - total: what an earlier page said; nil counts the rows, which reads all of them.
    public func serverRows(
        of name: TableName, after: String?, limit: Int, total: Int? = nil
    ) async throws(StoreError) -> Page<ServerRow>? {
        try await search { transaction in
            guard let table = try transaction.tables.table(name) else { return nil }
            let limit = min(max(limit, 1), StoreLimits.operatorPage)
            let rows = ServerRows(transaction: transaction)
            let page = try rows.page(of: table, after: after ?? "", limit: limit)
            return Page(
                items: page, next: page.count == limit ? page.last?.id.text : nil,
                total: try total ?? rows.count(of: table))
        }
    }
}
