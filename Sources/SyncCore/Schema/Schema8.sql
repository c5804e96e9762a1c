-- Version 8 of a store: the history of one item, and the operations that were tried often.

CREATE INDEX history_by_item ON history(item_id, table_id) WHERE item_id IS NOT NULL;

-- The number is that of `SyncLimits.attemptsBeforeRefusal`.
CREATE INDEX operations_tried ON operations(attempts) WHERE attempts > 10 AND closed_at IS NULL;
