package import Storage
import TablesProtocol

/// The tables in SQLite.
package enum SQLiteTables {
    /// The table with this name in any case; nil when there is none.
    static func find(_ connection: Connection, _ name: TableName) throws -> TableRecord? {
        try connection.first(
            """
            SELECT key, name, soft_delete, id_kind, needs_sign_in, declared_columns, seen_columns,
              last_stamp, last_number, first_effect, last_deletion, last_tombstone
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
                lastStamp: row[7], lastNumber: row[8],
                forgotten: ForgottenPast(
                    firstEffect: (row[9] as Int64?).map { Instant(ticks: $0) },
                    lastDeletion: (row[10] as Int64?).map { Instant(ticks: $0) },
                    lastTombstone: (row[11] as Int64?).map { Instant(ticks: $0) }))
        }
    }

    /// The tables that have a stamp.
    static func changes(_ connection: Connection) throws -> [TableChange] {
        try connection.all(
            "SELECT name, last_stamp FROM tables WHERE last_stamp > 0"
        ) { row in
            TableName(row.text(0)).map {
                TableChange(table: $0, stamp: Instant(ticks: row[1]))
            }
        }.compactMap(\.self)
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
    package static func copy(_ connection: Connection, _ record: TableRecord) throws {
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

/// The backend's own database; nothing but this folder reads it.
package enum SQLiteSchema {
    /// The version of the schema, in `user_version`.
    static let version = 2

    /// Creates what is not there yet.
    /// - Throws: ``NewerSchema`` where a newer program has been here; then nothing was changed.
    package static func create(_ connection: Connection) throws {
        let found = Int(try connection.integer("PRAGMA user_version") ?? 0)
        guard found <= version else { throw NewerSchema(found: found, known: version) }
        try connection.run(script: sql)
        let columns: [String] = try connection.column(
            "SELECT name FROM pragma_table_info('tables')")
        if !columns.contains("gone_revision") { try connection.run(script: second) }
        try connection.run(
            script: "\(indexesOfExpiry) PRAGMA user_version = \(version);")
    }

    /// Writes down a start. The numbers of starts never go back, though the clock may.
    /// - Returns: the milliseconds of the latest start.
    static func begin(_ connection: Connection, at start: Instant) throws -> Int64 {
        let latest: [Int64] = try connection.column(
            """
            INSERT INTO starts (key, milliseconds) VALUES (1, ?)
            ON CONFLICT (key) DO UPDATE SET milliseconds = max(milliseconds, excluded.milliseconds)
            RETURNING milliseconds
            """, [start.milliseconds])
        return latest[0]
    }

    /// What version 2 adds. `first_effect`, `last_deletion` and `last_tombstone`: ``ForgottenPast``, in ticks.
    /// `gone_revision`: no row that was taken out had a higher revision. Of rows that were taken out before, that
    /// was no more than the latest start or stamp and the number of the row's effects. `deleted_here`: a client
    /// has deleted the row here, and the trace of that was removed.
    private static let second = """
        ALTER TABLE tables ADD COLUMN first_effect INTEGER;
        ALTER TABLE tables ADD COLUMN last_deletion INTEGER;
        ALTER TABLE tables ADD COLUMN last_tombstone INTEGER;
        ALTER TABLE tables ADD COLUMN gone_revision INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE arrivals ADD COLUMN deleted_here INTEGER NOT NULL DEFAULT 0;
        UPDATE tables SET gone_revision = counts.effects + max(
          coalesce((SELECT max(milliseconds) FROM starts), 0),
          last_stamp / 10000 - \(Instant(milliseconds: 0).ticks / 10000))
        FROM (SELECT table_name, max(effects) AS effects FROM (
          SELECT table_name, count(*) AS effects FROM effects GROUP BY table_name, item_id)
          GROUP BY table_name) AS counts
        WHERE counts.table_name = tables.name;
        """

    private static let indexesOfExpiry = """
        CREATE INDEX IF NOT EXISTS effects_by_time ON effects (table_name, at);
        CREATE INDEX IF NOT EXISTS tombstones_by_stamp ON items (table_key, stamp) WHERE deleted = 1;
        """

    /// `tables`: one line for each table that exists. `items`: one for each item or tombstone; the
    /// names `id` to `deleted` are those that compiled queries use, times in milliseconds, the exact
    /// ticks beside them. `effects`: what each applied write did, never changed afterwards.
    /// `logins`: the tokens that were handed out. `arrivals`: one for each item that came from another
    /// backend, with the stamp that it had there, and with version and stamp as it was stored here.
    /// `starts`: one line with the latest start.
    private static let sql = """
        CREATE TABLE IF NOT EXISTS tables (
          key INTEGER PRIMARY KEY,
          name TEXT NOT NULL COLLATE NOCASE UNIQUE,
          soft_delete INTEGER NOT NULL,
          id_kind TEXT NOT NULL,
          needs_sign_in INTEGER NOT NULL,
          declared_columns TEXT NOT NULL,
          seen_columns TEXT NOT NULL DEFAULT '[]',
          last_stamp INTEGER NOT NULL DEFAULT 0,
          last_number INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE IF NOT EXISTS items (
          position INTEGER PRIMARY KEY,
          table_key INTEGER NOT NULL REFERENCES tables(key),
          id TEXT NOT NULL,
          columns TEXT NOT NULL,
          created_at INTEGER NOT NULL,
          created_ticks INTEGER NOT NULL,
          stamp INTEGER NOT NULL,
          stamp_ticks INTEGER NOT NULL,
          revision INTEGER NOT NULL,
          version TEXT NOT NULL,
          deleted INTEGER NOT NULL,
          UNIQUE (table_key, id)
        ) STRICT;
        CREATE INDEX IF NOT EXISTS items_by_stamp ON items (table_key, stamp, id);
        CREATE TABLE IF NOT EXISTS effects (
          number INTEGER PRIMARY KEY AUTOINCREMENT,
          table_name TEXT NOT NULL,
          item_id TEXT NOT NULL,
          kind TEXT NOT NULL,
          method TEXT NOT NULL,
          idempotency_key TEXT,
          at INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE IF NOT EXISTS logins (
          token TEXT PRIMARY KEY,
          user_id TEXT NOT NULL
        ) STRICT;
        CREATE TABLE IF NOT EXISTS arrivals (
          table_key INTEGER NOT NULL REFERENCES tables(key),
          id TEXT NOT NULL,
          origin_ticks INTEGER,
          version TEXT NOT NULL,
          stamp_ticks INTEGER NOT NULL,
          PRIMARY KEY (table_key, id)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS starts (
          key INTEGER PRIMARY KEY,
          milliseconds INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX IF NOT EXISTS effects_by_item ON effects (table_name, item_id);
        """
}

/// The indexes of a table whose items each belong to one user: by the user and the id, and by the user and
/// the last change.
enum OwnerIndexes {
    /// The term that a query needs to use the indexes of a table.
    ///
    /// It means `table_key = N` in a form that SQLite does not treat as equal to it, so that no other query
    /// uses them.
    static func scope(_ key: Int64) -> SQLFragment { SQLFragment("+table_key = \(key)") }

    /// Makes the indexes what the table needs.
    /// - Parameter column: the column of the owner, as the table spells it; nil for no indexes.
    static func keep(_ connection: Connection, _ key: Int64, column: String?) throws {
        let user = column.map { SQLCompiler(ItemSQLSchema()).equalKey($0) }
        try keep(connection, "items_of_users_\(key)", key, user.map { "\($0), id" })
        try keep(connection, "changes_of_users_\(key)", key, user.map { "\($0), stamp, id" })
    }

    private static func keep(
        _ connection: Connection, _ name: String, _ key: Int64, _ keys: String?
    ) throws {
        let wanted = keys.map { "CREATE INDEX \(name) ON items(\($0)) WHERE \(scope(key).text)" }
        let found = try connection.first(
            "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?", [name]
        ) { $0.text(0) }
        if found == wanted { return }
        if found != nil { try connection.run("DROP INDEX \(name)", keep: false) }
        if let wanted { try connection.run(wanted, keep: false) }
    }
}
