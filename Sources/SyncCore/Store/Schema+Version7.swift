extension Schema {
    /// Version 7: nothing that a write of an operation does makes a table of its own. SQLite makes one, a
    /// file in memory with pages, each time it compares with a list of three or more, also in the
    /// condition of an index or a trigger, and each time it changes rows that an index finds. That was
    /// ten times for each operation that was pushed.
    static let version7 = """
        DROP INDEX operations_due;
        CREATE INDEX operations_due ON operations(seq)
          WHERE (state = 'queued' OR state = 'waiting' OR state = 'unknown') AND successor_of IS NULL
            AND waits_for IS NULL;

        DROP TRIGGER operation_reopened;
        CREATE TRIGGER operation_reopened BEFORE UPDATE OF state ON operations
          WHEN old.state <> new.state
            AND (old.state = 'done' OR old.state = 'collapsed' OR old.state = 'discarded')
        BEGIN
          SELECT RAISE(ABORT, 'a closed operation stays closed');
        END;

        DROP TRIGGER operation_released;
        CREATE TRIGGER operation_released AFTER UPDATE OF kind, closed_at ON operations
          WHEN (new.closed_at IS NOT NULL OR old.kind <> new.kind)
            AND EXISTS (SELECT 1 FROM operations WHERE waits_for = new.seq)
        BEGIN
          UPDATE operations
            SET waits_for = NULL, state = 'queued', reason = NULL, revision = revision + 1
            WHERE waits_for = new.seq;
        END;
        """
}
