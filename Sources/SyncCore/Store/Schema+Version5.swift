extension Schema {
    /// Version 5: the store learns indexes from the lists it is asked for.
    ///
    /// A row of `learned_indexes` is one shape that lists asked for; it has an SQLite index named
    /// `learned_` and its id once `built_at` is set. `queries` and `steps` say how many lists it would
    /// have served and what they cost, in steps of SQLite's machine. `commits` counts the commits that
    /// changed the table. All three halve each day, last at `meta.indexes_halved_at`.
    /// `tables.indexes` repeats the built ones, so that who knows the table knows them: a JSON array
    /// of arrays, the id and the terms of the shape.
    static let version5 = """
        CREATE TABLE learned_indexes (
          id INTEGER PRIMARY KEY,
          table_id INTEGER NOT NULL REFERENCES tables(id) ON DELETE CASCADE,
          shape TEXT NOT NULL,
          queries INTEGER NOT NULL DEFAULT 0,
          steps INTEGER NOT NULL DEFAULT 0,
          seen_at INTEGER NOT NULL,
          built_at INTEGER,
          UNIQUE (table_id, shape)
        ) STRICT;
        ALTER TABLE tables ADD COLUMN indexes TEXT NOT NULL DEFAULT '[]';
        ALTER TABLE table_counters ADD COLUMN commits INTEGER NOT NULL DEFAULT 0;
        """
}
