/// The tables of one store, in the order a newcomer should read them. All times are milliseconds
/// since 1970 unless they say "raw", which is the backend's own text. A shipped part never changes:
/// a later version adds a migration.
enum Schema {
    /// What a store of version 1 holds.
    static let version1 = [
        tables, items, heldVersions, aliases, operations, attempts, counters, tokens, history,
        events,
        runs, samples, sdkViews,
    ].joined(separator: "\n")

    /// Version 2 remembers which operations may still arrive although they are sent again.
    static let version2 = """
        ALTER TABLE operations ADD COLUMN may_arrive_late INTEGER NOT NULL DEFAULT 0;
        UPDATE operations SET may_arrive_late = 1 WHERE maybe_applied = 1 OR state = 'sending';
        """

    /// Single values: the counter of committed push outcomes, whose store this is.
    /// The tables that clients know, each made by its first write or its first complete pull, and
    /// the column names as they were first spelled (a JSON object, lower-case name to spelling).
    static let tables = """
        CREATE TABLE meta (
          key TEXT NOT NULL PRIMARY KEY,
          value ANY NOT NULL
        ) STRICT, WITHOUT ROWID;
        INSERT INTO meta VALUES ('changes', 0);

        CREATE TABLE tables (
          id INTEGER PRIMARY KEY,
          name TEXT NOT NULL,
          name_key TEXT NOT NULL UNIQUE,
          id_kind TEXT NOT NULL DEFAULT 'string',
          is_complete INTEGER NOT NULL DEFAULT 0,
          read_policy TEXT NOT NULL DEFAULT 'local',
          write_policy TEXT NOT NULL DEFAULT 'local',
          conflict_policy TEXT NOT NULL DEFAULT 'ask',
          unconditional_policy TEXT NOT NULL DEFAULT 'ask',
          is_public INTEGER NOT NULL DEFAULT 0,
          paging TEXT NOT NULL DEFAULT 'keyset',
          column_spellings TEXT NOT NULL DEFAULT '{}',
          last_pull_at INTEGER,
          warning TEXT
        ) STRICT;

        -- What changes with every write of a table: apart, so that the rows above stay cached.
        CREATE TABLE table_counters (
          table_id INTEGER PRIMARY KEY REFERENCES tables(id) ON DELETE CASCADE,
          last_stamp INTEGER NOT NULL DEFAULT 0,
          live_items INTEGER NOT NULL DEFAULT 0,
          next_provisional_id INTEGER NOT NULL DEFAULT -1
        ) STRICT;
        CREATE TRIGGER table_made AFTER INSERT ON tables BEGIN
          INSERT INTO table_counters(table_id) VALUES (new.id);
        END;
        """

    /// One row an item, as clients see it now; `columns` has the user's columns only. `stamp` is the
    /// shown updatedAt, `version` what clients hold. `server_version` and `server_updated_at` are raw
    /// and name the last row known of the backend. `pending` is the item's first open operation;
    /// while it is set, the backend's last known row is kept in the `shadow_` columns (null: it has
    /// none). `settled_at` is the change counter when the item's last push outcome was committed.
    static let items = """
        CREATE TABLE items (
          rowid INTEGER PRIMARY KEY,
          table_id INTEGER NOT NULL REFERENCES tables(id) ON DELETE CASCADE,
          id TEXT NOT NULL,
          columns TEXT NOT NULL,
          created_at INTEGER,
          stamp INTEGER NOT NULL,
          version TEXT NOT NULL,
          deleted INTEGER NOT NULL DEFAULT 0,
          server_version TEXT,
          server_updated_at TEXT,
          server_deleted INTEGER NOT NULL DEFAULT 0,
          shadow_columns TEXT,
          settled_at INTEGER NOT NULL DEFAULT 0,
          pending INTEGER,
          UNIQUE (table_id, id)
        ) STRICT;
        CREATE INDEX items_by_stamp ON items(table_id, stamp, id);
        CREATE INDEX items_without_case ON items(table_id, id COLLATE NOCASE);
        CREATE INDEX items_tombstones ON items(stamp) WHERE deleted = 1;

        CREATE TRIGGER item_made AFTER INSERT ON items WHEN new.deleted = 0 BEGIN
          UPDATE table_counters SET live_items = live_items + 1 WHERE table_id = new.table_id;
        END;
        CREATE TRIGGER item_removed AFTER DELETE ON items WHEN old.deleted = 0 BEGIN
          UPDATE table_counters SET live_items = live_items - 1 WHERE table_id = old.table_id;
        END;
        CREATE TRIGGER item_turned AFTER UPDATE OF deleted ON items WHEN old.deleted <> new.deleted
        BEGIN
          UPDATE table_counters SET live_items = live_items + old.deleted - new.deleted
            WHERE table_id = new.table_id;
        END;
        """

    /// Versions handed out earlier that still name the item's present content; at most eight.
    static let heldVersions = """
        CREATE TABLE held_versions (
          seq INTEGER PRIMARY KEY AUTOINCREMENT,
          item INTEGER NOT NULL REFERENCES items(rowid) ON DELETE CASCADE,
          version TEXT NOT NULL
        ) STRICT;
        CREATE INDEX held_versions_by_item ON held_versions(item, seq);
        """

    /// Provisional ids of integer tables and the ids that the backend gave in their place.
    static let aliases = """
        CREATE TABLE aliases (
          table_id INTEGER NOT NULL REFERENCES tables(id) ON DELETE CASCADE,
          alias TEXT NOT NULL,
          id TEXT NOT NULL,
          PRIMARY KEY (table_id, alias)
        ) STRICT, WITHOUT ROWID;
        """
}
