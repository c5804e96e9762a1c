import GRDB
import TablesProtocol

/// One row of the items table.
struct ItemRow {
    /// Nil until it is saved first.
    var rowID: Int64?
    let tableID: Int64
    var id: ItemID
    /// The user's columns as clients see them.
    var columns: Columns
    var createdAt: Int64?
    /// The shown updatedAt, in ms.
    var stamp: Int64
    /// What clients hold.
    var version: String
    var deleted: Bool
    /// Raw, of the last row known of the backend.
    var serverVersion: String?
    var serverUpdatedAt: String?
    var serverDeleted: Bool
    /// The backend's columns while the item has local changes; nil when it has no row.
    var shadow: Columns?
    /// The change counter at the last push outcome.
    var settledAt: Int64
    /// The first open operation.
    var pending: Int64?

    init(new id: ItemID, tableID: Int64) {
        self.id = id
        self.tableID = tableID
        columns = Columns()
        stamp = 0
        version = ""
        deleted = false
        serverDeleted = false
        settledAt = 0
    }

    init(_ row: Row, idKind: IDKind) {
        rowID = row["rowid"]
        tableID = row["table_id"]
        id = ItemID(stored: row["id"], kind: idKind)
        columns = Columns(stored: row["columns"])
        createdAt = row["created_at"]
        stamp = row["stamp"]
        version = row["version"]
        deleted = row["deleted"]
        serverVersion = row["server_version"]
        serverUpdatedAt = row["server_updated_at"]
        serverDeleted = row["server_deleted"]
        shadow = (row["shadow_columns"] as String?).map { Columns(stored: $0) }
        settledAt = row["settled_at"]
        pending = row["pending"]
    }

    /// The item as a client sees it.
    var item: Item {
        Item(
            id: id, columns: columns, createdAt: createdAt.map { Instant(milliseconds: $0) },
            updatedAt: Instant(milliseconds: stamp), version: version, deleted: deleted)
    }

    /// The columns when there is something to see.
    var visible: Columns? { deleted ? nil : columns }
}
