extension Schema {
    /// What happened, for people: one row a change worth showing, with the item's columns before and
    /// after. An entry that was undone names the entry that did it.
    static let history = """
        CREATE TABLE history (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          at INTEGER NOT NULL,
          kind TEXT NOT NULL,
          actor TEXT NOT NULL,
          table_id INTEGER REFERENCES tables(id) ON DELETE CASCADE,
          item_id TEXT,
          op_id TEXT,
          before TEXT,
          after TEXT,
          summary TEXT NOT NULL,
          undoable INTEGER NOT NULL DEFAULT 0,
          undone_by INTEGER
        ) STRICT;
        CREATE INDEX history_by_time ON history(at);
        """

    /// What the dashboard is told, in a ring; ids are never used twice.
    static let events = """
        CREATE TABLE events (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          kind TEXT NOT NULL,
          table_name TEXT,
          item_id TEXT,
          op_id TEXT
        ) STRICT;
        """

    /// Pushes, pulls and syncs, with what each table's pull did.
    static let runs = """
        CREATE TABLE runs (
          seq INTEGER PRIMARY KEY AUTOINCREMENT,
          id TEXT NOT NULL UNIQUE,
          kind TEXT NOT NULL,
          state TEXT NOT NULL,
          reason TEXT,
          started_at INTEGER NOT NULL,
          ended_at INTEGER,
          push_results TEXT,
          sent INTEGER NOT NULL DEFAULT 0,
          applied INTEGER NOT NULL DEFAULT 0,
          conflicts INTEGER NOT NULL DEFAULT 0,
          quarantined INTEGER NOT NULL DEFAULT 0,
          remaining INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE run_pulls (
          run INTEGER NOT NULL REFERENCES runs(seq) ON DELETE CASCADE,
          number INTEGER NOT NULL,
          table_name TEXT NOT NULL,
          requests INTEGER NOT NULL,
          received INTEGER NOT NULL,
          applied INTEGER NOT NULL,
          skipped_dirty INTEGER NOT NULL,
          deleted INTEGER NOT NULL,
          error TEXT,
          PRIMARY KEY (run, number)
        ) STRICT, WITHOUT ROWID;
        """

    /// One row a minute.
    static let samples = """
        CREATE TABLE samples (
          at INTEGER NOT NULL PRIMARY KEY,
          depth INTEGER NOT NULL,
          succeeded INTEGER NOT NULL,
          failed INTEGER NOT NULL,
          latency_ms INTEGER
        ) STRICT;
        """
}
