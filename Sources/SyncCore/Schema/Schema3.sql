-- Version 3 of a store: what is known of a row that this store has deleted at the backend.

-- Raw: `updatedAt` of the row that a delete of this store removed, '' where it is not known. Null where the
-- backend has given the item since, deleted or not.
ALTER TABLE items ADD COLUMN deleted_after TEXT;
