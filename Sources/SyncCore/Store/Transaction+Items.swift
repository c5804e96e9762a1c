import Storage
import TablesProtocol

extension Transaction {
    /// A row by the exact id.
    func row(_ table: TableRecord, exactly id: ItemID) throws -> ItemRow? {
        try first(ItemRow.byID, [table.id, id.text]) { ItemRow($0, idKind: table.idKind) }
    }

    /// A row by its id: exact, else by the id that the backend gave instead of it, else the only one
    /// that differs in case alone. A tombstone gives way to the item that it became.
    func row(_ table: TableRecord, _ id: ItemID) throws -> ItemRow? {
        let exact = try row(table, exactly: id)
        if let exact, !exact.deleted || exact.pending != nil { return exact }
        let renamed = try first(ItemRow.byAlias, [table.id, id.text]) {
            ItemRow($0, idKind: table.idKind)
        }
        if let found = renamed ?? exact { return found }
        guard table.idKind == .string else { return nil }
        let rows = try all(ItemRow.byIDInAnyCase, [table.id, id.text]) {
            ItemRow($0, idKind: table.idKind)
        }
        return rows.count == 1 ? rows[0] : nil
    }

    /// The item as a client sees it, tombstones too.
    func item(_ table: TableRecord, _ id: ItemID) throws -> Item? {
        try row(table, id)?.item
    }

    /// Writes a row as it is; gives it its row id when it is new.
    func save(_ row: inout ItemRow) throws {
        if let rowID = row.rowID {
            try run(
                """
                UPDATE items SET columns = ?, created_at = ?, stamp = ?, version = ?,
                  deleted = ?, server_version = ?, server_updated_at = ?, server_deleted = ?,
                  shadow_columns = ?, settled_at = ?, pending = ? WHERE rowid = ?
                """,
                [
                    row.columns.text, row.createdAt, row.stamp, row.version, row.deleted,
                    row.serverVersion, row.serverUpdatedAt, row.serverDeleted, row.shadow?.text,
                    row.settledAt, row.pending, rowID,
                ])
        } else {
            try run(
                """
                INSERT INTO items(table_id, id, columns, created_at, stamp, version, deleted,
                  server_version, server_updated_at, server_deleted, shadow_columns, settled_at,
                  pending) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    row.tableID, row.id.text, row.columns.text, row.createdAt, row.stamp,
                    row.version, row.deleted, row.serverVersion, row.serverUpdatedAt,
                    row.serverDeleted, row.shadow?.text, row.settledAt, row.pending,
                ])
            row.rowID = db.insertedRowID
        }
    }

    /// Whether a row is known that the backend keeps although it is deleted: the table deletes softly.
    /// False where the table deletes hard, or no such row was seen yet.
    func isKnownToDeleteSoftly(_ table: TableRecord) throws -> Bool {
        try integer(
            """
            SELECT 1 FROM items INDEXED BY items_tombstones
              WHERE deleted = 1 AND server_deleted = 1 AND table_id = ? LIMIT 1
            """, [table.id]) != nil
    }
}

extension ItemRow {
    /// The versions under which a client may know the item as it is: the store's own, and the backend's
    /// while nothing was changed here.
    var knownVersions: [String] {
        guard pending == nil, let serverVersion else { return [version] }
        return [version, serverVersion]
    }
}
