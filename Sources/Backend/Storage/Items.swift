import GRDB
import TablesProtocol

/// An item as the backend stores it.
struct Row: Sendable, Hashable {
    /// The id as text; decimal digits in a table with integer ids.
    var id: String
    /// The user's columns.
    var columns: Columns
    /// When it was inserted.
    var createdAt: Instant
    /// When it last changed.
    var updatedAt: Instant
    /// How often it was changed, from 1.
    var revision: Int64
    /// What the version shows, base64.
    var version: String
    /// Whether it is softly deleted.
    var deleted: Bool
}

/// The items of the database.
enum Items {
    /// The item with this id, deleted or not; nil when there is none.
    static func find(_ database: Database, _ table: TableRecord, _ id: String) throws -> Row? {
        try GRDB.Row.fetchOne(
            database, sql: "SELECT * FROM items WHERE table_key = ? AND id = ?",
            arguments: [table.key, id]
        ).map(row)
    }

    /// Adds an item.
    static func insert(_ database: Database, _ table: TableRecord, _ row: Row) throws {
        try database.execute(
            sql: """
                INSERT INTO items (table_key, id, columns, created_at, created_ticks, stamp,
                  stamp_ticks, revision, version, deleted)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                table.key, row.id, stored(row), row.createdAt.milliseconds, row.createdAt.ticks,
                row.updatedAt.milliseconds, row.updatedAt.ticks, row.revision, row.version,
                row.deleted,
            ])
    }

    /// Replaces an item's content.
    static func update(_ database: Database, _ table: TableRecord, _ row: Row) throws {
        try database.execute(
            sql: """
                UPDATE items SET columns = ?, stamp = ?, stamp_ticks = ?, revision = ?,
                  version = ?, deleted = ?
                WHERE table_key = ? AND id = ?
                """,
            arguments: [
                stored(row), row.updatedAt.milliseconds, row.updatedAt.ticks, row.revision,
                row.version, row.deleted, table.key, row.id,
            ])
    }

    /// Every item of a table by id, tombstones too, in no flavour's form.
    static func all(_ database: Database, _ name: TableName) throws -> [Item] {
        guard let table = try Tables.find(database, name) else { return [] }
        return try GRDB.Row.fetchAll(
            database, sql: "SELECT * FROM items WHERE table_key = ? ORDER BY id",
            arguments: [table.key]
        ).map { stored in
            let row = row(stored)
            let number = table.options.idKind == .integer ? Int64(row.id) : nil
            let id = try number.map { ItemID($0) } ?? ItemID(row.id)
            return Item(
                id: id, columns: row.columns, createdAt: row.createdAt, updatedAt: row.updatedAt,
                version: row.version, deleted: row.deleted)
        }
    }

    /// Takes an item out without a trace.
    static func remove(_ database: Database, _ table: TableRecord, _ id: String) throws {
        try database.execute(
            sql: "DELETE FROM items WHERE table_key = ? AND id = ?", arguments: [table.key, id])
    }

    /// An item from a database row.
    static func row(_ row: GRDB.Row) -> Row {
        let plain: String? = row["plain"]
        return Row(
            id: row["id"], columns: Columns(stored: plain ?? row["columns"]),
            createdAt: Instant(ticks: row["created_ticks"]),
            updatedAt: Instant(ticks: row["stamp_ticks"]), revision: row["revision"],
            version: row["version"], deleted: row["deleted"])
    }

    private static func stored(_ row: Row) -> String { row.columns.text }
}
