import Storage
import TablesProtocol

/// A table in SQLite.
struct TableRecord: Sendable {
    /// The key in the database.
    var key: Int64
    /// What the serving part sees of it.
    var table: StoredTable
    /// The last `updatedAt` given, in ticks; 0 for none.
    var lastStamp: Int64
    /// The last integer id given.
    var lastNumber: Int64

    /// Gives the next integer id.
    /// - Throws: a refusal where the table has no further one.
    mutating func nextNumber() throws(Refusal) -> String {
        guard lastNumber < Limits.numberedID else {
            throw Refusal(
                400,
                "The table has an item with the greatest integer id, so it takes no new one. Move its "
                    + "items into a table with string ids.")
        }
        lastNumber += 1
        return String(lastNumber)
    }

    /// Gives the next `updatedAt`.
    mutating func nextStamp(_ write: Write) -> Instant {
        let last = lastStamp == 0 ? nil : Instant(ticks: lastStamp)
        let next = write.stamps.next(after: last, now: write.at)
        lastStamp = max(lastStamp, next.ticks)
        return next
    }
}

/// The tables in SQLite.
enum Tables {
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
                        needsSignIn: row[4], columns: columns(row[5])),
                    seenColumns: columns(row[6])),
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
                text(options.columns),
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
                options.needsSignIn, text(options.columns),
            ])
    }

    /// Keeps what a write changed in a table.
    static func save(_ connection: Connection, _ record: TableRecord) throws {
        try connection.run(
            "UPDATE tables SET last_stamp = ?, last_number = ?, seen_columns = ? WHERE key = ?",
            [record.lastStamp, record.lastNumber, text(record.table.seenColumns), record.key])
    }

    /// `[["text","string"]]`.
    static func text(_ columns: [TableOptions.Column]) -> String {
        JSONValue.array(
            columns.map { .array([.string($0.name), .string($0.type.rawValue)]) }
        ).text
    }

    static func columns(_ text: String) -> [TableOptions.Column] {
        let pairs = (try? JSONValue(parsing: text))?.array ?? []
        return pairs.compactMap { pair in
            guard let parts = pair.array, parts.count == 2, let name = parts[0].string,
                let type = parts[1].string.flatMap(TableOptions.ColumnType.init(rawValue:))
            else { return nil }
            return TableOptions.Column(name, type)
        }
    }
}
