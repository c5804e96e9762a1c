-- Version 7 of a store: up to which `updatedAt`, in ticks, the backend no longer has the rows that it deleted,
-- as far as pulls of the token have made up for it.

ALTER TABLE tokens ADD COLUMN deletions_after INTEGER;
