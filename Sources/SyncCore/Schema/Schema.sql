-- The tables of one store, in the order in which a newcomer should read them.
--
-- Times are milliseconds since 1970, unless a column says "raw", which is the backend's own text.
-- Flags are 0 and 1. A JSON column says its shape. Counters are kept by triggers: no code path can
-- forget them, and a long queue costs a write nothing.


-- Single values: `changes` counts committed push outcomes; the other keys say whose store this is.
CREATE TABLE meta (
  key TEXT NOT NULL PRIMARY KEY,
  value ANY NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('changes', 0);


-- ITEMS

-- The tables that clients know. A row is made by the first write or the first complete pull.
--   name, name_key     as first spelled, and in lower case
--   *_policy, paging   the operator's settings
--   column_spellings   JSON object: lower-case column name to the spelling that came first
--   parents            JSON array of "table.column": items need the items that these columns name
--   preserves_history  an update before a delete is sent as an operation of its own
--   indexes            JSON array of arrays, the id and the columns of each built index, so that one
--                      read of this row is enough to plan a list
--   pull_error         why pulls of this table fail, since pulls_fail_since; null while they succeed
--   page_rows          rows that the backend gives at most in a page; null while it gave all
--   largest_page_rows  rows of the largest page that it gave; null before any
--   is_unsorted        its rows came in another order than that of their times: each pull takes the whole
--                      table and removes nothing, until a pull with --reconcile finds the rows in order
--   deletion           whether the backend keeps a deleted row ('soft') or not ('hard')
--   lacks_versions     its rows have no version, so that a write cannot have a condition
--   accepted_rows, larger_pages_after
--                      the page size that the backend accepted after it refused a larger one, and the
--                      number of pulls before a larger one is requested again. `page_rows` alone is what
--                      clients are given: it is taken from short pages too
--   part               the query string of the part that is copied, as the settings have it; null for
--                      the whole table
--   part_generation    the backend's generation when it gave the part
--   must_compare       items may be here that the copy has no longer, so the next pull compares all of it
--   pause              what a person has paused: 'nothing', 'pushes', 'pulls' or 'all'
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
  parents TEXT NOT NULL DEFAULT '[]',
  preserves_history INTEGER NOT NULL DEFAULT 0,
  column_spellings TEXT NOT NULL DEFAULT '{}',
  indexes TEXT NOT NULL DEFAULT '[]',
  last_pull_at INTEGER,
  warning TEXT,
  pull_error TEXT,
  pulls_fail_since INTEGER,
  page_rows INTEGER,
  largest_page_rows INTEGER,
  is_unsorted INTEGER NOT NULL DEFAULT 0,
  deletion TEXT NOT NULL DEFAULT 'unknown',
  lacks_versions INTEGER NOT NULL DEFAULT 0,
  accepted_rows INTEGER,
  larger_pages_after INTEGER NOT NULL DEFAULT 0,
  part TEXT,
  part_generation INTEGER,
  must_compare INTEGER NOT NULL DEFAULT 0,
  pause TEXT NOT NULL DEFAULT 'nothing'
) STRICT;

-- What changes with every write of a table, apart from the row above, which stays cached.
--   last_stamp           the largest stamp given
--   next_provisional_id  the next id for a new item of a table whose ids are integers
CREATE TABLE table_counters (
  table_id INTEGER PRIMARY KEY REFERENCES tables(id) ON DELETE CASCADE,
  last_stamp INTEGER NOT NULL DEFAULT 0,
  live_items INTEGER NOT NULL DEFAULT 0,
  next_provisional_id INTEGER NOT NULL DEFAULT -1
) STRICT;
-- Provisional ids count down from the largest number of 32 bits: the SDKs refuse ids that are not above 0.
CREATE TRIGGER table_made AFTER INSERT ON tables BEGIN
  INSERT INTO table_counters(table_id, next_provisional_id) VALUES (new.id, 2147483647);
END;

-- One row for each item, as clients see it now.
--   columns           JSON object of the user's columns
--   stamp, version    the updatedAt and the version that clients are shown: this store's own
--   server_version, server_updated_at, server_created_at
--                     raw: the last row known of the backend
--   pending           seq of the item's first open operation
--   shadow_columns    while an operation is open: the last row known of the backend; null: it has none
--   settled_at        meta.changes when the item's last push outcome was committed
--   deleted_after     raw: `updatedAt` of the row that a delete of this store removed at the backend, ''
--                     where it is not known. Null where the backend has given the item since, deleted or not
--   unsent_change     JSON object of `base` and `columns`: the update that was merged into the delete which
--                     the backend has applied. It was not sent, so an undelete sends it. Null where none was
--   own_write         JSON array of arrays: the last client's write, whose version may still be named in a
--                     condition (`OwnWrite`)
--   replaced_rows     JSON array of arrays of strings, `version` and `updatedAt`, both raw, and the time of
--                     the push: what pushes have lately replaced at the backend (`ReplacedRows`). A read
--                     that still shows such a row comes from a copy that lags behind
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
  server_created_at TEXT,
  deleted_after TEXT,
  unsent_change TEXT,
  own_write TEXT,
  replaced_rows TEXT,
  UNIQUE (table_id, id)
) STRICT;
CREATE INDEX items_by_stamp ON items(table_id, stamp, id);
CREATE INDEX items_by_creation ON items(table_id, created_at);
CREATE INDEX items_tombstones ON items(stamp) WHERE deleted = 1;
-- Finds an id whatever its case. An id in small letters is found by the exact id, so it is not in here.
CREATE INDEX items_without_case ON items(table_id, id COLLATE NOCASE) WHERE id <> lower(id);

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

-- Provisional ids of integer tables, and the ids that the backend gave in their place.
CREATE TABLE aliases (
  table_id INTEGER NOT NULL REFERENCES tables(id) ON DELETE CASCADE,
  alias TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (table_id, alias)
) STRICT, WITHOUT ROWID;
-- An alias ends with its item: a backend may give the id of a deleted row to another row. Of an item that was
-- never sent the alias stays, because an undo brings the item back. Nor does a purge end the alias of a text
-- id, which no backend gives again.
CREATE INDEX aliases_by_id ON aliases(table_id, id);
CREATE TRIGGER item_ended AFTER UPDATE OF deleted, pending ON items
  WHEN new.deleted = 1 AND new.pending IS NULL AND new.settled_at > 0
BEGIN
  DELETE FROM aliases WHERE table_id = new.table_id AND id = new.id;
END;
CREATE TRIGGER item_forgotten AFTER DELETE ON items
  WHEN (SELECT id_kind FROM tables WHERE id = old.table_id) = 'integer'
BEGIN
  DELETE FROM aliases WHERE table_id = old.table_id AND id = old.id;
END;


-- THE QUEUE

-- One row for each write that was accepted and not merged into an earlier one.
--   seq              the order; no number is used twice
--   state, reason    queued, waiting, sending, unknown, conflict, quarantined; closed are done,
--                    collapsed and discarded
--   base_version, base_row
--                    the backend's row that the change started from; for a successor, what the
--                    operation before it leaves behind
--   changed_columns  JSON array of names
--   payload          JSON object: what is sent; it does not change while the operation is being sent
--   maybe_applied    a request may have taken effect: the row is read back before the next one
--   may_arrive_late  a request may still take effect although the operation is sent again
--   parameters       JSON array of name and value: the query parameters of the client's request
--   headers          JSON array of name and value: the fields of the client's request that are sent
--   made_id          the id was made here
--   highest_id       integer tables: the highest id known when an insert was first sent
--   not_before       the backend has asked not to be tried earlier (Retry-After)
--   successor_of     the operation that has to close before this one may be sent; an item has at
--                    most one first operation and one successor
--   waits_for        the operation of another item that has to close first
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
  may_arrive_late INTEGER NOT NULL DEFAULT 0,
  parameters TEXT NOT NULL DEFAULT '[]',
  headers TEXT NOT NULL DEFAULT '[]',
  generation INTEGER NOT NULL,
  conditional INTEGER NOT NULL DEFAULT 0,
  made_id INTEGER NOT NULL DEFAULT 0,
  highest_id INTEGER,
  traceparent TEXT,
  tracestate TEXT,
  actor TEXT NOT NULL,
  title TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  first_attempt_at INTEGER,
  last_attempt_at INTEGER,
  next_attempt_at INTEGER,
  not_before INTEGER,
  closed_at INTEGER,
  last_status INTEGER,
  last_error TEXT,
  successor_of INTEGER REFERENCES operations(seq) ON DELETE SET NULL,
  waits_for INTEGER
) STRICT;
-- The states are compared one by one: for a list of three SQLite makes a table at each write.
-- With the table, so that the operations of a table that waits are passed over without reading them, and with
-- the kind: an update does not move back across a later insert or undelete.
CREATE INDEX operations_due ON operations(seq, table_id, state, next_attempt_at, kind)
  WHERE (state = 'queued' OR state = 'waiting' OR state = 'unknown') AND successor_of IS NULL
    AND waits_for IS NULL;
CREATE INDEX operations_timed ON operations(next_attempt_at, table_id)
  WHERE state IN ('waiting', 'unknown') AND successor_of IS NULL AND waits_for IS NULL;
CREATE INDEX operations_by_state ON operations(state, seq);
-- Causes are counted by status too, with their times, and the index alone is read for it.
CREATE INDEX operations_by_reason
  ON operations(state, reason, last_status, seq, table_id, first_attempt_at, last_attempt_at)
  WHERE reason IS NOT NULL;
CREATE UNIQUE INDEX operations_successors ON operations(successor_of)
  WHERE successor_of IS NOT NULL;
CREATE INDEX operations_held ON operations(waits_for) WHERE waits_for IS NOT NULL;
CREATE INDEX operations_closed ON operations(closed_at) WHERE closed_at IS NOT NULL;
-- The number is that of `SyncLimits.attemptsBeforeRefusal`.
CREATE INDEX operations_tried ON operations(attempts) WHERE attempts > 10 AND closed_at IS NULL;

-- An operation that waits for another one goes on when that one is done or undone.
CREATE TRIGGER operation_released AFTER UPDATE OF kind, closed_at ON operations
  WHEN (new.closed_at IS NOT NULL OR old.kind <> new.kind)
    AND EXISTS (SELECT 1 FROM operations WHERE waits_for = new.seq)
BEGIN
  UPDATE operations
    SET waits_for = NULL, state = 'queued', reason = NULL, revision = revision + 1
    WHERE waits_for = new.seq;
END;

-- One row for each request of an operation, written before the request is sent.
--   request_fields, response_fields
--                     JSON array of header lines, without secrets
--   response_excerpt  the beginning of the answer's body
--   reach             how far a request got that had no answer
CREATE TABLE attempts (
  operation INTEGER NOT NULL REFERENCES operations(seq) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  method TEXT NOT NULL,
  target TEXT NOT NULL,
  request_fields TEXT NOT NULL DEFAULT '[]',
  request_body TEXT,
  status INTEGER,
  response_fields TEXT NOT NULL DEFAULT '[]',
  response_excerpt TEXT,
  outcome TEXT NOT NULL DEFAULT 'sending',
  error TEXT,
  reach TEXT,
  PRIMARY KEY (operation, number)
) STRICT, WITHOUT ROWID;

-- How many requests for operations did not end with success, by cause. Left out are a read back that was
-- answered and decided nothing, a request that was not made, and an answer after which the operation is sent
-- again at once.
--   sampled  the value at the last sample
CREATE TABLE failures (
  cause TEXT NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL DEFAULT 0,
  sampled INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TRIGGER attempt_failed AFTER UPDATE OF ended_at ON attempts
  WHEN old.ended_at IS NULL AND new.reach IS NOT 'neverBegun'
    AND (new.outcome = 'conflict' OR new.outcome = 'quarantined'
    OR (new.outcome = 'waiting' OR new.outcome = 'unknown')
      AND NOT (new.method = 'GET' AND new.status IS 200 AND new.error IS NULL))
BEGIN
  INSERT INTO failures(cause, value) VALUES (CASE
      WHEN new.outcome = 'conflict' THEN 'conflict'
      WHEN new.status IS NULL THEN 'noAnswer'
      WHEN new.status = 401 THEN 'signIn'
      WHEN new.status = 429 OR new.status BETWEEN 502 AND 504 THEN 'unavailable'
      WHEN new.status >= 500 OR new.status = 408 THEN 'serverError'
      WHEN new.outcome = 'quarantined' THEN 'refused'
      ELSE 'unusable' END, 1)
    ON CONFLICT DO UPDATE SET value = value + 1;
END;

-- Tables that the backend fails for (502, 503, 504) while it answers for others.
--
--   name_key           the table, which may not be in `tables` yet: `tables.name_key`
--   kind               push: its operations wait; pull: its pulls wait
--   reason             a sentence for a person
--   since              when it began to fail
--   failures           failures in a row, for the backoff
--   until              when it is tried again; a wait that is over stays until a success
--   not_before         the backend has asked not to be tried earlier (Retry-After)
--   method, path, status, failed_at
--                      the request that failed last
CREATE TABLE table_waits (
  name_key TEXT NOT NULL,
  kind TEXT NOT NULL,
  reason TEXT NOT NULL,
  since INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  until INTEGER NOT NULL,
  not_before INTEGER,
  method TEXT,
  path TEXT,
  status INTEGER,
  failed_at INTEGER,
  PRIMARY KEY (name_key, kind)
) STRICT, WITHOUT ROWID;

-- The ledger: every accepted write ends as done, collapsed or discarded, or is open. The other counters
-- are how often an operation came into conflict or was quarantined, and how often one was sent again.
--   sampled  the value at the last sample
CREATE TABLE ledger (
  name TEXT NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL DEFAULT 0,
  sampled INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO ledger(name) VALUES ('accepted'), ('done'), ('collapsed'), ('discarded'),
  ('conflict'), ('quarantined'), ('retried');

-- How many operations of a table are in which state.
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
  WHEN old.state <> new.state
    AND (old.state = 'done' OR old.state = 'collapsed' OR old.state = 'discarded')
BEGIN
  SELECT RAISE(ABORT, 'a closed operation stays closed');
END;
CREATE TRIGGER operation_forgotten AFTER DELETE ON operations BEGIN
  UPDATE state_counts SET count = count - 1
    WHERE table_id = old.table_id AND state = old.state;
END;


-- PULLS

-- How far each incremental pull has come, for each table, query id and filter.
--   updated_at, last_id  raw: the last row that was seen
--   is_settled, look_back, seen_at
--                        whether every row stamped up to the token was received, and what decides it
--   deletions_after      up to which `updatedAt`, in ticks, the backend no longer has the rows that it
--                        deleted, as far as pulls of the token have made up for it
CREATE TABLE tokens (
  id INTEGER PRIMARY KEY,
  table_id INTEGER NOT NULL REFERENCES tables(id) ON DELETE CASCADE,
  query_id TEXT NOT NULL,
  filter_hash TEXT NOT NULL,
  updated_at TEXT,
  last_id TEXT,
  is_complete INTEGER NOT NULL DEFAULT 0,
  last_run_at INTEGER,
  is_settled INTEGER NOT NULL DEFAULT 0,
  look_back INTEGER NOT NULL DEFAULT 0,
  seen_at INTEGER,
  deletions_after INTEGER,
  UNIQUE (table_id, query_id, filter_hash)
) STRICT;

-- The items that a query has brought: a comparison removes those that are no longer at the backend.
CREATE TABLE members (
  token INTEGER NOT NULL REFERENCES tokens(id) ON DELETE CASCADE,
  item_id TEXT NOT NULL,
  PRIMARY KEY (token, item_id)
) STRICT, WITHOUT ROWID;

-- Rows of a backend's list that could not be taken.
--   name    tells the rows of a table apart: `id:` and the id, or a hash of the text
--   text    the row as it came
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

-- Items that may have left the part of their table. The backend is asked about each.
CREATE TABLE part_doubts (
  table_id INTEGER NOT NULL REFERENCES tables(id) ON DELETE CASCADE,
  item_id TEXT NOT NULL,
  PRIMARY KEY (table_id, item_id)
) STRICT, WITHOUT ROWID;

-- What comparisons of tables with the backend have found (`ComparePass`).
--
--   checked_at   when the table was checked last, or a comparison of ids last went on
--   compared_at  when all ids and versions were compared last
--   surplus      how many rows more the backend counted then than were here
--   begun        meta.changes when the comparison under way began; null while none is
--   last_id      the last id that it has listed
--   found        what the last comparison that found anything has mended
--   mended       how many rows all have mended
--   faults       how many in a row ended with an objection
--   objection    why the table is compared no more
CREATE TABLE copy_checks (
  table_id INTEGER PRIMARY KEY REFERENCES tables(id) ON DELETE CASCADE,
  checked_at INTEGER NOT NULL,
  compared_at INTEGER,
  surplus INTEGER NOT NULL,
  begun INTEGER,
  last_id TEXT,
  found TEXT,
  mended INTEGER NOT NULL,
  faults INTEGER NOT NULL,
  objection TEXT
) STRICT;

-- The ids that the backend has listed in the comparison under way.
CREATE TABLE listed_ids (
  table_id INTEGER NOT NULL REFERENCES tables(id) ON DELETE CASCADE,
  item_id TEXT NOT NULL,
  PRIMARY KEY (table_id, item_id)
) STRICT, WITHOUT ROWID;


-- WHAT PEOPLE SEE

-- One row for each change worth showing, with the item's columns before and after.
--   server_version  the backend's version that a change started from that was given up
--   undone_by       the entry that undid this one
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
  server_version TEXT,
  summary TEXT NOT NULL,
  undoable INTEGER NOT NULL DEFAULT 0,
  undone_by INTEGER
) STRICT;
CREATE INDEX history_by_time ON history(at);
CREATE INDEX history_by_item ON history(item_id, table_id) WHERE item_id IS NOT NULL;
CREATE INDEX history_decisions ON history(op_id)
  WHERE undoable = 1 AND kind IN ('resolved', 'discarded');

-- An operation and its item as they were before a decision gave the operation up or changed it: what
-- undoing the entry of history brings back. It has the columns of `operations`.
--   mine, server  the item's columns here and at the backend
--   copy_id       the item that keeping both has made
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
  may_arrive_late INTEGER NOT NULL,
  parameters TEXT NOT NULL,
  headers TEXT NOT NULL DEFAULT '[]',
  generation INTEGER NOT NULL,
  conditional INTEGER NOT NULL,
  made_id INTEGER NOT NULL,
  highest_id INTEGER,
  traceparent TEXT,
  tracestate TEXT,
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
  waits_for INTEGER,
  mine TEXT NOT NULL,
  mine_deleted INTEGER NOT NULL,
  server TEXT,
  server_deleted INTEGER NOT NULL,
  server_version TEXT,
  server_updated_at TEXT,
  copy_id TEXT
) STRICT;

-- What the dashboard is told, the latest only; no id is used twice.
CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  table_name TEXT,
  item_id TEXT,
  op_id TEXT
) STRICT;

-- Pushes, pulls and syncs.
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

-- What each table's pull did in a run.
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

-- What happened in a minute, one row for each in which the engine ran.
--   depth, largest_depth  open operations at its end; the most where it was sampled twice
--   accepted, applied, collapsed, discarded, failures
--                         what `ledger` and `failures` grew by since the row before
--   succeeded, failed     requests to the backend of any kind
--   failures, answers, reach
--                         JSON arrays of "name count": failures by cause, answers by class of time
--                         (AnswerTimes), and milliseconds by state of the backend
CREATE TABLE samples (
  at INTEGER NOT NULL PRIMARY KEY,
  depth INTEGER NOT NULL,
  largest_depth INTEGER NOT NULL,
  accepted INTEGER NOT NULL,
  applied INTEGER NOT NULL,
  collapsed INTEGER NOT NULL,
  discarded INTEGER NOT NULL,
  failures TEXT NOT NULL,
  succeeded INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  latency_ms INTEGER,
  answers TEXT NOT NULL,
  reach TEXT NOT NULL
) STRICT;

-- The indexes that the settings of tables name.
--   shape     the columns as an `$orderby`
--   built_at  null while it is not built; its name in SQLite is items_index_ and the id
--   seen_at   when a setting named it first
--   queries, steps
--             0: kept from a version that counted lists
CREATE TABLE table_indexes (
  id INTEGER PRIMARY KEY,
  table_id INTEGER NOT NULL REFERENCES tables(id) ON DELETE CASCADE,
  shape TEXT NOT NULL,
  queries INTEGER NOT NULL DEFAULT 0,
  steps INTEGER NOT NULL DEFAULT 0,
  seen_at INTEGER NOT NULL,
  built_at INTEGER,
  UNIQUE (table_id, shape)
) STRICT;


-- THE SDKs' SYSTEM TABLES

-- As the SDKs name them. `properties` is the JSON that the iOS SDK keeps; only a delete carries its
-- item there.
CREATE VIEW MS_TableOperations AS
  SELECT o.seq AS id, o.item_id AS itemId, t.name AS "table", 0 AS tableKind,
    CASE WHEN o.kind <> 'delete'
      THEN json_object('type', CASE o.kind WHEN 'insert' THEN 0 ELSE 1 END)
    WHEN o.base_version IS NULL THEN json_object('type', 2, 'item',
      json_set(coalesce(o.base_row, '{}'), '$.id', o.item_id))
    ELSE json_object('type', 2, 'item', json_set(coalesce(o.base_row, '{}'),
      '$.id', o.item_id, '$.version', o.base_version)) END AS properties,
    o.created_at
  FROM operations o JOIN tables t ON t.id = o.table_id WHERE o.closed_at IS NULL;

CREATE VIEW MS_TableOperationErrors AS
  SELECT id, operationId, tableKind, CASE
    WHEN item IS NULL AND server_item IS NULL THEN properties
    WHEN item IS NULL THEN json_insert(properties, '$.serverItem', json(server_item))
    WHEN server_item IS NULL THEN json_insert(properties, '$.item', json(item))
    ELSE json_insert(properties, '$.item', json(item), '$.serverItem', json(server_item))
    END AS properties, created_at
  FROM (SELECT o.op_id AS id, o.seq AS operationId, 0 AS tableKind, json_object(
      'code', CASE o.state WHEN 'conflict' THEN -1303 ELSE -1301 END,
      'domain', 'com.Microsoft.MicrosoftAzureMobile.ErrorDomain',
      'description', coalesce(o.reason, ''), 'table', t.name,
      'operation', CASE o.kind WHEN 'insert' THEN 0 WHEN 'delete' THEN 2 ELSE 1 END,
      'itemId', o.item_id, 'statusCode', o.last_status) AS properties,
    CASE WHEN i.deleted = 0 THEN json_set(i.columns, '$.id', i.id) END AS item,
    CASE WHEN i.server_version IS NULL THEN json_set(i.shadow_columns, '$.id', i.id)
      ELSE json_set(i.shadow_columns, '$.id', i.id, '$.version', i.server_version,
        '$.deleted', json(CASE i.server_deleted WHEN 1 THEN 'true' ELSE 'false' END))
      END AS server_item,
    o.created_at
    FROM operations o JOIN tables t ON t.id = o.table_id
    LEFT JOIN items i ON i.table_id = o.table_id AND i.id = o.item_id
    WHERE o.state IN ('conflict', 'quarantined'));

CREATE VIEW MS_TableConfig AS
  SELECT CAST(k.id AS TEXT) AS id, t.name AS "table", k.query_id AS key, 0 AS keyType,
    coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', k.updated_at), k.updated_at) AS value,
    coalesce(k.last_run_at, 0) AS created_at
  FROM tokens k JOIN tables t ON t.id = k.table_id WHERE k.updated_at IS NOT NULL;

-- The same with the columns that an item has, for `/tables`.
CREATE VIEW MS_TableOperations_items AS
  SELECT CAST(id AS TEXT) AS id, json_object('itemId', itemId, 'table', "table",
    'tableKind', tableKind, 'properties', properties || '') AS columns, created_at,
    created_at AS stamp, 'AAAAAAAAAAA=' AS version, 0 AS deleted
  FROM MS_TableOperations;
CREATE VIEW MS_TableOperationErrors_items AS
  SELECT id, json_object('operationId', operationId, 'tableKind', tableKind, 'properties',
    properties || '') AS columns, created_at, created_at AS stamp, 'AAAAAAAAAAA=' AS version,
    0 AS deleted
  FROM MS_TableOperationErrors;
CREATE VIEW MS_TableConfig_items AS
  SELECT CAST(id AS TEXT) AS id, json_object('table', "table", 'key', key, 'keyType',
    keyType, 'value', value) AS columns, created_at, created_at AS stamp,
    'AAAAAAAAAAA=' AS version, 0 AS deleted
  FROM MS_TableConfig;
