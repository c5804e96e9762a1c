extension Schema {
    /// Version 9.
    ///
    /// - A row of `undo_points` is an operation and its item as they were before a decision gave the
    ///   operation up or changed it: what undoing the entry of history brings back. It has the columns
    ///   of `operations` that such an operation can have; `mine` and `server` are the item's columns
    ///   here and at the backend, `copy_id` the item that keeping both has made.
    /// - Versions that clients hold are the store's own and change with what a client can see: none has
    ///   to be kept valid beside the present one.
    static let version9 = """
        CREATE TABLE undo_points (
          history INTEGER PRIMARY KEY REFERENCES history(id) ON DELETE CASCADE,
          seq INTEGER NOT NULL,
          op_id TEXT NOT NULL,
          table_id INTEGER NOT NULL REFERENCES tables(id) ON DELETE CASCADE,
          item_id TEXT NOT NULL,
          kind TEXT NOT NULL,
          state TEXT NOT NULL,
          reason TEXT,
          revision INTEGER NOT NULL,
          base_version TEXT,
          base_row TEXT,
          changed_columns TEXT NOT NULL,
          payload TEXT,
          maybe_applied INTEGER NOT NULL,
          parameters TEXT NOT NULL,
          generation INTEGER NOT NULL,
          conditional INTEGER NOT NULL,
          made_id INTEGER NOT NULL,
          highest_id INTEGER,
          traceparent TEXT,
          actor TEXT NOT NULL,
          title TEXT,
          attempts INTEGER NOT NULL,
          created_at INTEGER NOT NULL,
          first_attempt_at INTEGER,
          last_attempt_at INTEGER,
          next_attempt_at INTEGER,
          closed_at INTEGER,
          last_status INTEGER,
          last_error TEXT,
          successor_of INTEGER,
          may_arrive_late INTEGER NOT NULL,
          waits_for INTEGER,
          mine TEXT NOT NULL,
          mine_deleted INTEGER NOT NULL,
          server TEXT,
          server_deleted INTEGER NOT NULL,
          server_version TEXT,
          server_updated_at TEXT,
          copy_id TEXT
        ) STRICT;
        DROP TABLE held_versions;
        """
}
