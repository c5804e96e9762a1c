-- Version 2 of a store: what the overview and the causes of the queue are read from, and when the backend
-- says that a row was created.

-- Causes are counted by status too, with their times, and the index alone is read for it.
DROP INDEX operations_by_reason;
CREATE INDEX operations_by_reason
  ON operations(state, reason, last_status, seq, table_id, first_attempt_at, last_attempt_at)
  WHERE reason IS NOT NULL;

-- Raw: `createdAt` of the last row known of the backend.
ALTER TABLE items ADD COLUMN server_created_at TEXT;

-- The value at the last sample. What came before this version is in no sample.
ALTER TABLE ledger ADD COLUMN sampled INTEGER NOT NULL DEFAULT 0;
UPDATE ledger SET sampled = value;

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

-- What happened in a minute, one row for each in which the engine ran.
--   depth, largest_depth  open operations at its end; the most where it was sampled twice
--   accepted, applied, collapsed, discarded, failures
--                         what `ledger` and `failures` grew by since the row before
--   succeeded, failed     requests to the backend of any kind
--   failures, answers, reach
--                         JSON arrays of "name count": failures by cause, answers by class of time
--                         (AnswerTimes), and milliseconds by state of the backend
ALTER TABLE samples RENAME TO earlier_samples;
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
INSERT INTO samples
  SELECT at, depth, depth, 0, 0, 0, 0, '[]', succeeded, failed, latency_ms, '[]', '[]'
  FROM earlier_samples;
DROP TABLE earlier_samples;
