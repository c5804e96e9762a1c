import Backend
import PostgreSQL
import TablesProtocol

/// The rows in PostgreSQL.
enum PostgreSQLItems {
    /// The columns that a row is read from, in this order.
    static let selectedColumns = "id, columns, created_ticks, stamp_ticks, version, deleted"
    /// The number of ``selectedColumns``: the place of a further column.
    static let columnCount = 6

    /// The part of `items` that has the rows of one table. Statements that name it have a plan that is made once
    /// and looks at no other part.
    static func partition(_ key: Int64) -> String { "items_\(key)" }

    /// The key of a table, as this connection knows it: a key never changes, and no table is removed. Nil when
    /// there is no such table. Not for a transaction that may have made the table.
    static func key(
        _ connection: PostgreSQLConnection, _ table: TableName
    ) throws -> Int64? {
        if let known = connection.remembered[table.key] { return known }
        let key = try connection.run(
            "SELECT key FROM tables WHERE folded = $1::text", [.text(table.key)]
        ).first?.integer(0)
        connection.remembered[table.key] = key
        return key
    }

    /// A row of the selected columns.
    static func row(_ row: PostgreSQLRow) throws -> Row {
        Row(
            id: try row.text(0), columns: Columns(stored: try row.text(1)),
            createdAt: Instant(ticks: try row.integer(2)),
            updatedAt: Instant(ticks: try row.integer(3)), version: try row.text(4),
            deleted: try row.boolean(5))
    }

    /// The source of versions that a write does not name. They are decimal numbers in base64.
    enum Versions: Sendable {
        /// Numbers that the database gives once, so that no version of a removed row comes again.
        case ofDatabase
        /// The number of writes of the row, as the captured servers count.
        case ofRow

        /// The version of a row that was written `revision` times.
        func next(_ revision: String) -> String {
            let number =
                switch self {
                case .ofDatabase: "nextval('versions')"
                case .ofRow: "(\(revision))"
                }
            return "encode(convert_to(\(number)::text, 'UTF8'), 'base64')"
        }
    }

    /// The row with this id, deleted or not; nil when there is none.
    /// - Parameter key: the table's key.
    static func find(
        _ connection: PostgreSQLConnection, _ table: TableName, _ key: Int64, _ id: String
    ) throws -> Row? {
        // PostgreSQL's texts have no U+0000, so there is no such row.
        if id.utf8.contains(0) { return nil }
        return try connection.run(
            """
            SELECT \(selectedColumns) FROM \(partition(key))
            WHERE table_key = (SELECT key FROM tables WHERE folded = $1::text) AND id = $2::text
            """, [.text(table.key), .text(id)]
        ).first.map(row)
    }

    /// Every row of a table in the order of the ids' bytes, tombstones too.
    static func all(_ connection: PostgreSQLConnection, _ table: TableName) throws -> [Row] {
        try connection.run(
            """
            SELECT \(selectedColumns) FROM items
            WHERE table_key = (SELECT key FROM tables WHERE folded = $1::text) ORDER BY id
            """, [.text(table.key)]
        ).map(row)
    }

    /// The highest id of a table with integer ids, tombstones too; 0 without rows.
    static func highestNumber(
        _ connection: PostgreSQLConnection, _ table: TableRecord
    ) throws -> Int64 {
        try connection.run(
            """
            SELECT coalesce(max(id::bigint), 0) FROM \(partition(table.key))
            WHERE table_key = $1::bigint AND id ~ '^[0-9]{1,18}$'
            """, [.integer(table.key)]
        ).first?.integer(0) ?? 0
    }

    /// Adds a row; nil when there is one with its id.
    static func insert(
        _ connection: PostgreSQLConnection, _ table: TableRecord, _ new: NewRow, _ id: String,
        _ stamp: Instant, _ versions: Versions
    ) throws -> Row? {
        let content = PostgreSQLContent(new.columns)
        return try connection.run(
            """
            INSERT INTO \(partition(table.key)) (table_key, id, columns, content, moments, created_at,
              created_ticks, stamp, stamp_ticks, version, deleted)
            VALUES ($1::bigint, $2::text, $3::text, $4::jsonb, $5::jsonb, $6::bigint, $7::bigint,
              $6::bigint, $7::bigint, coalesce($8::text, \(versions.next("1"))), $9::boolean)
            ON CONFLICT (table_key, id) DO NOTHING RETURNING \(selectedColumns)
            """,
            [
                .integer(table.key), .text(id), .text(new.columns.text), .text(content.values),
                PostgreSQLValue(content.moments), .integer(stamp.milliseconds),
                .integer(stamp.ticks), PostgreSQLValue(new.version), .boolean(new.deleted),
            ]
        ).first.map(row)
    }

    /// Gives a row new content; nil when it is not as it was read.
    static func change(
        _ connection: PostgreSQLConnection, _ table: TableRecord, _ change: RowChange,
        _ stamp: Instant, _ versions: Versions
    ) throws -> Row? {
        let content = PostgreSQLContent(change.columns)
        return try connection.run(
            """
            UPDATE \(partition(table.key)) SET columns = $6::text, content = $7::jsonb, moments = $8::jsonb,
              deleted = $9::boolean, stamp = $10::bigint, stamp_ticks = $11::bigint,
              revision = revision + 1,
              version = coalesce($12::text, \(versions.next("revision + 1")))
            WHERE \(isAsRead) RETURNING \(selectedColumns)
            """,
            values(table, change.old) + [
                .text(change.columns.text), .text(content.values), PostgreSQLValue(content.moments),
                .boolean(change.deleted), .integer(stamp.milliseconds), .integer(stamp.ticks),
                PostgreSQLValue(change.version),
            ]
        ).first.map(row)
    }

    /// Takes a row out; false when it is not as it was read.
    static func remove(
        _ connection: PostgreSQLConnection, _ table: TableRecord, _ row: Row
    ) throws -> Bool {
        try !connection.run(
            "DELETE FROM \(partition(table.key)) WHERE \(isAsRead) RETURNING 1", values(table, row)
        ).isEmpty
    }

    private static let isAsRead = """
        table_key = $1::bigint AND id = $2::text AND version = $3::text
          AND stamp_ticks = $4::bigint AND deleted = $5::boolean
        """

    private static func values(_ table: TableRecord, _ row: Row) -> [PostgreSQLValue] {
        [
            .integer(table.key), .text(row.id), .text(row.version), .integer(row.updatedAt.ticks),
            .boolean(row.deleted),
        ]
    }
}
