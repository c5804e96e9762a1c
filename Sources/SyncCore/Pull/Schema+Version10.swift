extension Schema {
    /// Version 10.
    ///
    /// - `set_aside_rows` keeps what a backend's list held and could not be taken: the text as it came
    ///   and why. `name` tells rows of a table apart: the id's text after `id:`, or a hash of the text.
    /// - A table names why its pulls fail and since when; null while they succeed.
    /// - An operation names the time before which the backend has asked not to be tried (`Retry-After`).
    static let version10 = """
        CREATE TABLE set_aside_rows (
          table_id INTEGER NOT NULL REFERENCES tables(id) ON DELETE CASCADE,
          name TEXT NOT NULL,
          id TEXT,
          text TEXT NOT NULL,
          reason TEXT NOT NULL,
          since INTEGER NOT NULL,
          seen_at INTEGER NOT NULL,
          asked_at INTEGER NOT NULL,
          PRIMARY KEY (table_id, name)
        ) STRICT, WITHOUT ROWID;
        ALTER TABLE tables ADD COLUMN pull_error TEXT;
        ALTER TABLE tables ADD COLUMN pulls_fail_since INTEGER;
        ALTER TABLE operations ADD COLUMN not_before INTEGER;
        """
}
