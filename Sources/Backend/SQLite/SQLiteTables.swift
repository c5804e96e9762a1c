import Storage
import TablesProtocol

/// The tables in SQLite.
enum SQLiteTables {
    /// The table with this name in any case; nil when there is none.
    static func find(_ connection: Connection, _ name: TableName) throws -> TableRecord? {
        try connection.first(
            """
            SELECT key, name, soft_delete, id_kind, needs_sign_in, declared_columns, seen_columns,
              last_stamp, last_number
            FROM tables WHERE name = ?
            """, [name.text]
        ) { row in
            TableRecord(
                key: row[0],
                table: StoredTable(
                    name: TableName(row.text(1)) ?? name,
                    options: TableOptions(
                        softDelete: row[2], idKind: IDKind(rawValue: row[3]) ?? .string,
                        needsSignIn: row[4], columns: TableRecord.columns(row[5])),
                    seenColumns: TableRecord.columns(row[6])),
                lastStamp: row[7], lastNumber: row[8])
        }
    }

    /// The table; one of these options when there was none.
    static func findOrMake(
        _ connection: Connection, _ name: TableName, _ options: TableOptions
    ) throws -> TableRecord {
        if let found = try find(connection, name) { return found }
        try declare(connection, name, options)
        guard let made = try find(connection, name) else { throw StorageError.damaged }
        return made
    }

    /// Makes a table; one that exists takes the options.
    static func declare(
        _ connection: Connection, _ name: TableName, _ options: TableOptions
    ) throws {
        try connection.run(
            """
            INSERT INTO tables (name, soft_delete, id_kind, needs_sign_in, declared_columns)
            VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET soft_delete = excluded.soft_delete,
              id_kind = excluded.id_kind, needs_sign_in = excluded.needs_sign_in,
              declared_columns = excluded.declared_columns
            """,
            [
                name.text, options.softDelete, options.idKind.rawValue, options.needsSignIn,
                TableRecord.text(options.columns),
            ])
    }

    /// Adds a table of another storage under its key.
    static func copy(_ connection: Connection, _ record: TableRecord) throws {
        let options = record.table.options
        try connection.run(
            """
            INSERT INTO tables (key, name, soft_delete, id_kind, needs_sign_in, declared_columns)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                record.key, record.table.name.text, options.softDelete, options.idKind.rawValue,
                options.needsSignIn, TableRecord.text(options.columns),
            ])
    }

    /// Keeps what a write changed in a table.
    static func save(_ connection: Connection, _ record: TableRecord) throws {
        try connection.run(
            "UPDATE tables SET last_stamp = ?, last_number = ?, seen_columns = ? WHERE key = ?",
            [
                record.lastStamp, record.lastNumber, TableRecord.text(record.table.seenColumns),
                record.key,
            ])
    }
}
