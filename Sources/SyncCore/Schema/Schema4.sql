-- Version 4 of a store: whether a table's rows came in another order than that of their times.

-- From then on each pull takes the whole table and removes nothing, until a pull with --reconcile finds the
-- rows in order. An earlier build knew it by the text of the table's warning.
ALTER TABLE tables ADD COLUMN is_unsorted INTEGER NOT NULL DEFAULT 0;
UPDATE tables SET is_unsorted = 1
  WHERE paging = 'full' AND warning LIKE 'The backend does not sort by updatedAt:%';
