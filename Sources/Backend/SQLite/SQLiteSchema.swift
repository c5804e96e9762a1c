import Storage
import TablesProtocol

/// The backend's own database; nothing but this folder reads it.
enum SQLiteSchema {
    /// The version of the schema, in `user_version`.
    static let version = 1

    /// Creates what is not there yet.
    /// - Throws: ``NewerSchema`` where a newer program has been here; then nothing was changed.
    static func create(_ connection: Connection) throws {
        let found = Int(try connection.integer("PRAGMA user_version") ?? 0)
        guard found <= version else { throw NewerSchema(found: found, known: version) }
        try connection.run(script: "\(sql) PRAGMA user_version = \(version);")
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
