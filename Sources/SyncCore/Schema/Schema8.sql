-- Version 8 of a store: what pushes have lately replaced of an item at the backend.

-- JSON array of arrays of strings: `version` and `updatedAt`, both raw, and the time of the push (`ReplacedRows`).
-- A read that still shows such a row comes from a copy that lags behind.
ALTER TABLE items ADD COLUMN replaced_rows TEXT;
