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

-- The inserts and undeletes that are open: an update does not move back across a later one.
CREATE INDEX operations_arrivals ON operations(seq)
  WHERE closed_at IS NULL AND (kind = 'insert' OR kind = 'undelete');
