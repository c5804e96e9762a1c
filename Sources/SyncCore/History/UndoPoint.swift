import TablesProtocol

/// An operation and its item as they were before a decision: what undoing the decision brings back.
struct UndoPoint {
    var operation: TableOperation
    /// The item's columns here.
    var mine: Columns
    var mineDeleted: Bool
    /// The backend's side as it was known.
    var server: ServerSide
    /// The item that keeping both has made of mine.
    var copy: ItemID?

    init(_ operation: TableOperation, _ row: ItemRow, _ server: ServerSide) {
        self.operation = operation
        mine = row.columns
        mineDeleted = row.deleted
        self.server = server
    }
}

extension UndoPoint {
    /// The point of an entry.
    static let select = """
        SELECT \(TableOperation.columns),
          coalesce(nullif(mine, ''), (SELECT before FROM history WHERE id = undo_points.history), '{}'),
          mine_deleted, server, server_deleted, server_version,
          server_updated_at, copy_id
        FROM undo_points JOIN tables ON tables.id = undo_points.table_id WHERE history = ?
        """

    init?(_ row: StatementRow) {
        guard let operation = TableOperation(row) else { return nil }
        self.operation = operation
        let first = TableOperation.columnCount
        mine = Columns(stored: row[first])
        if (row[TableOperation.payloadColumn] as String?)?.isEmpty == true {
            self.operation.payload = mine
        }
        mineDeleted = row[first + 1]
        server = ServerSide(columns: (row[first + 2] as String?).map { Columns(stored: $0) })
        server.isDeleted = row[first + 3]
        server.version = row[first + 4]
        server.updatedAt = row[first + 5]
        copy = (row[first + 6] as String?).map {
            ItemID(stored: $0, kind: operation.itemID.kind)
        }
    }
}
