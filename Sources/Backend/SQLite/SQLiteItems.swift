package import Storage
import TablesProtocol

/// The rows in SQLite.
package enum SQLiteItems {
    /// The row with this id, deleted or not; nil when there is none.
    static func find(_ connection: Connection, _ table: TableRecord, _ id: String) throws -> Row? {
        try connection.first(
            "SELECT \(selectedColumns("columns")) FROM items WHERE table_key = ? AND id = ?",
            [table.key, id], row)
    }

    /// The row with this id in the table with this name; nil when there is none.
    static func find(_ connection: Connection, in table: TableName, _ id: String) throws -> Row? {
        try connection.first(
            """
            SELECT \(selectedColumns("columns")) FROM items
            WHERE table_key = (SELECT key FROM tables WHERE name = ?) AND id = ?
            """, [table.text, id], row)
    }

    /// Every row of a table in the order of the ids' bytes, tombstones too.
    static func all(_ connection: Connection, _ table: TableRecord) throws -> [Row] {
        try connection.all(
            "SELECT \(selectedColumns("columns")) FROM items WHERE table_key = ? ORDER BY id",
            [table.key],
            row)
    }

    /// The rows after an id, tombstones too, in the order of the ids' bytes.
    static func page(
        _ connection: Connection, _ table: TableRecord, after id: String, limit: Int
    ) throws -> [Row] {
        try connection.all(
            """
            SELECT \(selectedColumns("columns")) FROM items WHERE table_key = ? AND id > ?
            ORDER BY id LIMIT ?
            """, [table.key, id, limit], row)
    }

    /// The highest id of a table with integer ids, tombstones too; 0 without rows.
    static func highestNumber(_ connection: Connection, _ table: TableRecord) throws -> Int64 {
        try connection.first(
            "SELECT coalesce(max(CAST(id AS INTEGER)), 0) FROM items WHERE table_key = ?",
            [table.key]
        ) { $0[0] } ?? 0
    }

    /// Adds a row.
    ///
    /// Its revision goes on from what was done to the same id before it was removed, so no version is given
    /// twice: a client that holds the removed row's version would overwrite a row that it never saw. Each
    /// change is one effect. After a row that moved in, whose count began with milliseconds, so does this one.
    /// Where effects were removed, it goes on from the highest revision of all rows that were taken out.
    /// - Parameter first: the least number that is counted from.
    static func insert(
        _ connection: Connection, _ table: TableRecord, _ new: NewRow, _ id: String,
        _ stamp: Instant, countingFrom first: Int64
    ) throws -> Row {
        let own = new.version == nil ? 1 : 0
        return try connection.all(
            """
            INSERT INTO items (table_key, id, columns, created_at, created_ticks, stamp,
              stamp_ticks, revision, version, deleted)
            SELECT ?1, ?2, ?3, ?4, ?5, ?4, ?5, revision, coalesce(?7, counted_version(revision)), ?8
            FROM (SELECT ?6
              + max(?10, coalesce((SELECT ?4 FROM arrivals WHERE table_key = ?1 AND id = ?2), 0),
                (SELECT CASE WHEN first_effect IS NULL THEN 0 ELSE gone_revision END FROM tables
                  WHERE key = ?1))
              + (SELECT count(*) FROM effects WHERE table_name = ?9 AND item_id = ?2) AS revision)
            RETURNING \(selectedColumns("columns"))
            """,
            [
                table.key, id, new.columns.text, stamp.milliseconds, stamp.ticks, own,
                new.version, new.deleted, table.table.name.text, first,
            ], row)[0]
    }

    /// Adds a row of another storage as it is.
    package static func copy(
        _ connection: Connection, _ table: TableRecord, _ row: Row, position: Int64
    ) throws {
        try connection.run(
            """
            INSERT INTO items (position, table_key, id, columns, created_at, created_ticks, stamp,
              stamp_ticks, revision, version, deleted)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?)
            """,
            [
                position, table.key, row.id, row.columns.text, row.createdAt.milliseconds,
                row.createdAt.ticks, row.updatedAt.milliseconds, row.updatedAt.ticks, row.version,
                row.deleted,
            ])
    }

    /// Gives a row new content; nil when it is not as it was read.
    /// - Parameter first: the least number that is counted from.
    static func change(
        _ connection: Connection, _ table: TableRecord, _ change: RowChange, _ stamp: Instant,
        countingFrom first: Int64
    ) throws -> Row? {
        let content: StatementValues = [
            change.columns.text, change.deleted, stamp.milliseconds, stamp.ticks, first,
            change.version, first,
        ]
        return try connection.all(
            """
            UPDATE items SET columns = ?, deleted = ?, stamp = ?, stamp_ticks = ?,
              revision = max(revision + 1, ?),
              version = coalesce(?, counted_version(max(revision + 1, ?)))
            WHERE \(isAsRead) RETURNING \(selectedColumns("columns"))
            """,
            content + values(table, change.old), row
        ).first
    }

    /// Takes a row out; false when it is not as it was read.
    static func remove(_ connection: Connection, _ table: TableRecord, _ row: Row) throws -> Bool {
        try takeOut(connection, table, where: isAsRead, values(table, row)) == 1
    }

    /// Takes rows out, and keeps the highest of their revisions, on which that of a later insert may build.
    /// - Returns: how many there were.
    @discardableResult
    static func takeOut(
        _ connection: Connection, _ table: TableRecord, where condition: String,
        _ values: StatementValues
    ) throws -> Int {
        let revisions: [Int64] = try connection.column(
            "DELETE FROM items WHERE \(condition) RETURNING revision", values)
        if let highest = revisions.max() {
            try connection.run(
                "UPDATE tables SET gone_revision = max(gone_revision, ?) WHERE key = ?",
                [highest, table.key])
        }
        return revisions.count
    }

    /// The columns that a row is read from, in this order; `columns` names the text of the user's
    /// columns.
    static func selectedColumns(_ columns: String) -> String {
        "id, \(columns), created_ticks, stamp_ticks, version, deleted"
    }

    /// A row of the selected columns.
    static func row(_ row: StatementRow) -> Row {
        Row(
            id: row[0], columns: Columns(stored: row[1]), createdAt: Instant(ticks: row[2]),
            updatedAt: Instant(ticks: row[3]), version: row[4], deleted: row[5])
    }

    /// The condition that a row is still as it was read. Versions alone do not show it, because some
    /// come with the write.
    private static let isAsRead = """
        table_key = ? AND id = ? AND version = ? AND stamp_ticks = ? AND deleted = ? AND columns = ?
        """

    private static func values(_ table: TableRecord, _ row: Row) -> StatementValues {
        [table.key, row.id, row.version, row.updatedAt.ticks, row.deleted, row.columns.text]
    }
}

extension ScalarFunction {
    /// The version of a row that was changed so often: the number in decimal, base64.
    static let countedVersion = ScalarFunction("counted_version", argumentCount: 1) { values in
        guard case .integer(let count) = values[0] else { return Call(.null) }
        return Call(.text(Base64.encoded(String(count).utf8)))
    }
}

/// The tokens that were handed out, and the user of each, in SQLite.
enum LoginTokens {
    /// Keeps a token.
    static func add(_ connection: Connection, token: String, user: String) throws {
        try connection.run(
            "INSERT OR REPLACE INTO logins (token, user_id) VALUES (?, ?)", [token, user])
    }

    /// The user of a token; nil when this backend did not make it.
    static func user(_ connection: Connection, token: String) throws -> String? {
        try connection.first("SELECT user_id FROM logins WHERE token = ?", [token]) { $0.text(0) }
    }

    /// Takes a token back.
    static func remove(_ connection: Connection, token: String) throws {
        try connection.run("DELETE FROM logins WHERE token = ?", [token])
    }
}
