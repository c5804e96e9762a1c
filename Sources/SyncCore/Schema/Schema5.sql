-- Version 5 of a store: what its backend's tables were seen to do, and what is known of an item's last writes.

-- Whether the backend keeps a deleted row ('soft') or not ('hard').
ALTER TABLE tables ADD COLUMN deletion TEXT NOT NULL DEFAULT 'unknown';
UPDATE tables SET deletion = 'soft' WHERE id IN
  (SELECT table_id FROM items INDEXED BY items_tombstones WHERE deleted = 1 AND server_deleted = 1);

-- Whether its rows have no version, so that a write cannot have a condition.
ALTER TABLE tables ADD COLUMN lacks_versions INTEGER NOT NULL DEFAULT 0;

-- The page size that the backend accepted after it refused a larger one, and the number of pulls before a larger
-- one is requested again. `page_rows` alone is what clients are given: it was taken from short pages too.
ALTER TABLE tables ADD COLUMN accepted_rows INTEGER;
ALTER TABLE tables ADD COLUMN larger_pages_after INTEGER NOT NULL DEFAULT 0;

-- Whether every row stamped up to a pull token was received, and what decides it.
ALTER TABLE tokens ADD COLUMN is_settled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN look_back INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN seen_at INTEGER;

-- JSON object of `base` and `columns`: the update that was merged into the delete which the backend has
-- applied. It was not sent, so an undelete sends it. Null where none was.
ALTER TABLE items ADD COLUMN unsent_change TEXT;

-- JSON array of arrays: the last client's write, whose version may still be named in a condition (`OwnWrite`).
ALTER TABLE items ADD COLUMN own_write TEXT;

-- Provisional ids of integer tables count down from the largest number of 32 bits. The SDKs refuse ids that
-- are not above 0. Inserts that wait keep the negative ids that an earlier build gave them.
DROP TRIGGER table_made;
CREATE TRIGGER table_made AFTER INSERT ON tables BEGIN
  INSERT INTO table_counters(table_id, next_provisional_id) VALUES (new.id, 2147483647);
END;
UPDATE table_counters SET next_provisional_id = 2147483647;
DELETE FROM meta WHERE key = 'removed_provisional_id';

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
DELETE FROM aliases WHERE table_id IN (SELECT id FROM tables WHERE id_kind = 'integer')
  AND NOT EXISTS (SELECT 1 FROM items
    WHERE items.table_id = aliases.table_id AND items.id = aliases.id
      AND (deleted = 0 OR pending IS NOT NULL OR settled_at = 0));

-- table_waits: tables that the backend fails for (502, 503, 504) while it answers for others.
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

-- With the table, so that the operations of a table that waits are passed over without reading them, and with
-- the kind: an update does not move back across a later insert or undelete.
DROP INDEX operations_due;
CREATE INDEX operations_due ON operations(seq, table_id, state, next_attempt_at, kind)
  WHERE (state = 'queued' OR state = 'waiting' OR state = 'unknown') AND successor_of IS NULL
    AND waits_for IS NULL;
DROP INDEX operations_timed;
CREATE INDEX operations_timed ON operations(next_attempt_at, table_id)
  WHERE state IN ('waiting', 'unknown') AND successor_of IS NULL AND waits_for IS NULL;

-- Tables that are copied in part:
--   part             the query string of the part, as the settings have it; null for the whole table
--   part_generation  the backend's generation when it gave the part
--   must_compare     items may be here that the copy has no longer, so the next pull compares all of it
ALTER TABLE tables ADD COLUMN part TEXT;
ALTER TABLE tables ADD COLUMN part_generation INTEGER;
ALTER TABLE tables ADD COLUMN must_compare INTEGER NOT NULL DEFAULT 0;

-- Items that may have left the part of their table. The backend is asked about each.
CREATE TABLE part_doubts (
  table_id INTEGER NOT NULL REFERENCES tables(id) ON DELETE CASCADE,
  item_id TEXT NOT NULL,
  PRIMARY KEY (table_id, item_id)
) STRICT, WITHOUT ROWID;
