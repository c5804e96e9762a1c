-- Version 5 of a store: what its backend's tables were seen to do.

-- Whether the backend keeps a deleted row ('soft') or not ('hard').
ALTER TABLE tables ADD COLUMN deletion TEXT NOT NULL DEFAULT 'unknown';
UPDATE tables SET deletion = 'soft' WHERE id IN
  (SELECT table_id FROM items INDEXED BY items_tombstones WHERE deleted = 1 AND server_deleted = 1);

-- Whether its rows have no version, so that a write cannot have a condition.
ALTER TABLE tables ADD COLUMN lacks_versions INTEGER NOT NULL DEFAULT 0;
