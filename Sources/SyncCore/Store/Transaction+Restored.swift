import TablesProtocol

extension Transaction {
    /// Tells a store that a backup took its place: it remembers less than has happened.
    ///
    /// 1. What was open then may have been sent since: every row is read back before anything is
    ///    sent. A new item of an integer table is looked for above the highest id known here.
    /// 2. Clients with stores of their own may hold stamps that are yet to come here: every row gets
    ///    a new one, in the old order, so that they take it again.
    func noteRestored() throws {
        try run(
            """
            UPDATE operations SET highest_id = coalesce(highest_id, (SELECT max(CAST(id AS INTEGER))
              FROM items WHERE items.table_id = operations.table_id AND id > 0), 0)
            WHERE kind = 'insert' AND closed_at IS NULL
              AND table_id IN (SELECT id FROM tables WHERE id_kind = 'integer')
            """)
        try run(
            """
            UPDATE operations SET maybe_applied = 1, may_arrive_late = 1, revision = revision + 1
            WHERE state IN ('queued', 'waiting', 'unknown', 'quarantined')
              AND successor_of IS NULL
            """)
        try run(
            """
            UPDATE operations SET state = 'unknown', next_attempt_at = ?,
              reason = 'The store was restored; the row will be read back.'
            WHERE state IN ('queued', 'waiting', 'unknown') AND successor_of IS NULL
              AND waits_for IS NULL
            """, [now.milliseconds])
        try run(
            """
            UPDATE items SET stamp = fresh.stamp FROM (
              SELECT items.rowid AS item, max(?1, last_stamp)
                + row_number() OVER (PARTITION BY table_id ORDER BY stamp, items.rowid) AS stamp
              FROM items JOIN table_counters USING (table_id)) AS fresh
            WHERE fresh.item = items.rowid
            """, [now.milliseconds])
        try run(
            """
            UPDATE table_counters SET last_stamp = coalesce(
              (SELECT max(stamp) FROM items WHERE items.table_id = table_counters.table_id),
              last_stamp)
            """)
    }
}
