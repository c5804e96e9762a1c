-- Version 8 of a store: the history of one item, operations that were tried often, comparisons with the
-- backend, and what pushes have replaced there.

CREATE INDEX history_by_item ON history(item_id, table_id) WHERE item_id IS NOT NULL;

-- The number is that of `SyncLimits.attemptsBeforeRefusal`.
CREATE INDEX operations_tried ON operations(attempts) WHERE attempts > 10 AND closed_at IS NULL;

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

-- What pushes have lately replaced of an item at the backend: a JSON array of arrays of strings, `version` and
-- `updatedAt`, both raw, and the time of the push (`ReplacedRows`). A read that still shows such a row comes from
-- a copy that lags behind.
ALTER TABLE items ADD COLUMN replaced_rows TEXT;
