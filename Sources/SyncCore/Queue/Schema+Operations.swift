extension Schema {
    /// One row a write that was accepted and not merged into an earlier one. `seq` is the order and
    /// never used twice. `successor_of` names the operation that must close before this one may be
    /// sent; an item has at most one first operation and one successor. `base_row` is the user's
    /// columns that the change started from (for a successor: what the first one leaves behind).
    /// `payload` is what will be sent, and does not change while the operation is being sent.
    static let operations = """
        CREATE TABLE operations (
          seq INTEGER PRIMARY KEY AUTOINCREMENT,
          op_id TEXT NOT NULL UNIQUE,
          table_id INTEGER NOT NULL REFERENCES tables(id) ON DELETE CASCADE,
          item_id TEXT NOT NULL,
          kind TEXT NOT NULL,
          state TEXT NOT NULL,
          reason TEXT,
          revision INTEGER NOT NULL DEFAULT 1,
          base_version TEXT,
          base_row TEXT,
          changed_columns TEXT NOT NULL DEFAULT '[]',
          payload TEXT,
          maybe_applied INTEGER NOT NULL DEFAULT 0,
          parameters TEXT NOT NULL DEFAULT '[]',
          generation INTEGER NOT NULL,
          conditional INTEGER NOT NULL DEFAULT 0,
          made_id INTEGER NOT NULL DEFAULT 0,
          highest_id INTEGER,
          traceparent TEXT,
          actor TEXT NOT NULL,
          title TEXT,
          attempts INTEGER NOT NULL DEFAULT 0,
          created_at INTEGER NOT NULL,
          first_attempt_at INTEGER,
          last_attempt_at INTEGER,
          next_attempt_at INTEGER,
          closed_at INTEGER,
          last_status INTEGER,
          last_error TEXT,
          successor_of INTEGER REFERENCES operations(seq) ON DELETE SET NULL
        ) STRICT;
        CREATE INDEX operations_due ON operations(seq)
          WHERE state IN ('queued', 'waiting', 'unknown') AND successor_of IS NULL;
        CREATE INDEX operations_timed ON operations(next_attempt_at)
          WHERE state IN ('waiting', 'unknown') AND successor_of IS NULL;
        CREATE INDEX operations_by_state ON operations(state, seq);
        CREATE UNIQUE INDEX operations_successors ON operations(successor_of)
          WHERE successor_of IS NOT NULL;
        CREATE INDEX operations_closed ON operations(closed_at) WHERE closed_at IS NOT NULL;
        """

    /// One row a request for an operation, written before the request is sent. The response is cut
    /// to an excerpt. `reach` says how far a request got that had no answer.
    static let attempts = """
        CREATE TABLE attempts (
          operation INTEGER NOT NULL REFERENCES operations(seq) ON DELETE CASCADE,
          number INTEGER NOT NULL,
          started_at INTEGER NOT NULL,
          ended_at INTEGER,
          method TEXT NOT NULL,
          target TEXT NOT NULL,
          request_body TEXT,
          status INTEGER,
          response_excerpt TEXT,
          outcome TEXT NOT NULL DEFAULT 'sending',
          error TEXT,
          reach TEXT,
          PRIMARY KEY (operation, number)
        ) STRICT, WITHOUT ROWID;
        """

    /// The ledger's growing counters, and how many operations of a table are in which state; kept by
    /// triggers, so that no code path can forget them and a long queue costs a write nothing.
    static let counters = """
        CREATE TABLE ledger (
          name TEXT NOT NULL PRIMARY KEY,
          value INTEGER NOT NULL DEFAULT 0
        ) STRICT, WITHOUT ROWID;
        INSERT INTO ledger(name) VALUES ('accepted'), ('done'), ('collapsed'), ('discarded');

        CREATE TABLE state_counts (
          table_id INTEGER NOT NULL REFERENCES tables(id) ON DELETE CASCADE,
          state TEXT NOT NULL,
          count INTEGER NOT NULL,
          PRIMARY KEY (table_id, state)
        ) STRICT, WITHOUT ROWID;

        CREATE TRIGGER operation_made AFTER INSERT ON operations BEGIN
          UPDATE ledger SET value = value + 1 WHERE name = 'accepted';
          INSERT INTO state_counts VALUES (new.table_id, new.state, 1)
            ON CONFLICT DO UPDATE SET count = count + 1;
        END;
        CREATE TRIGGER operation_moved AFTER UPDATE OF state ON operations
          WHEN old.state <> new.state
        BEGIN
          UPDATE state_counts SET count = count - 1
            WHERE table_id = old.table_id AND state = old.state;
          INSERT INTO state_counts VALUES (new.table_id, new.state, 1)
            ON CONFLICT DO UPDATE SET count = count + 1;
          UPDATE ledger SET value = value + 1 WHERE name = new.state;
        END;
        CREATE TRIGGER operation_reopened BEFORE UPDATE OF state ON operations
          WHEN old.state IN ('done', 'collapsed', 'discarded') AND old.state <> new.state
        BEGIN
          SELECT RAISE(ABORT, 'a closed operation stays closed');
        END;
        CREATE TRIGGER operation_forgotten AFTER DELETE ON operations BEGIN
          UPDATE state_counts SET count = count - 1
            WHERE table_id = old.table_id AND state = old.state;
        END;
        """

    /// How far each incremental pull has come: raw updatedAt and id of the last row seen, for each
    /// table, query id and filter; and which items a query has brought, for reconciling.
    static let tokens = """
        CREATE TABLE tokens (
          id INTEGER PRIMARY KEY,
          table_id INTEGER NOT NULL REFERENCES tables(id) ON DELETE CASCADE,
          query_id TEXT NOT NULL,
          filter_hash TEXT NOT NULL,
          updated_at TEXT,
          last_id TEXT,
          is_complete INTEGER NOT NULL DEFAULT 0,
          last_run_at INTEGER,
          UNIQUE (table_id, query_id, filter_hash)
        ) STRICT;
        CREATE TABLE members (
          token INTEGER NOT NULL REFERENCES tokens(id) ON DELETE CASCADE,
          item_id TEXT NOT NULL,
          PRIMARY KEY (token, item_id)
        ) STRICT, WITHOUT ROWID;
        """
}
