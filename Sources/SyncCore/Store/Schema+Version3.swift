extension Schema {
    /// Version 3.
    ///
    /// - A table names the columns by which its items need those of others (`parents`, a JSON array of
    ///   `table.column`), and whether an update before a delete is kept apart.
    /// - An operation may wait for one of another item (`waits_for`, a seq); a trigger lets it go, so
    ///   that no code path can forget it.
    /// - History keeps the backend's version that a given-up change started from.
    /// - The SDKs' views show whole items.
    static let version3 = [parents, waiting, wholeItems].joined(separator: "\n")

    private static let parents = """
        ALTER TABLE tables ADD COLUMN parents TEXT NOT NULL DEFAULT '[]';
        ALTER TABLE tables ADD COLUMN preserves_history INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE history ADD COLUMN server_version TEXT;
        """

    private static let waiting = """
        ALTER TABLE operations ADD COLUMN waits_for INTEGER;
        DROP INDEX operations_due;
        CREATE INDEX operations_due ON operations(seq)
          WHERE state IN ('queued', 'waiting', 'unknown') AND successor_of IS NULL
            AND waits_for IS NULL;
        DROP INDEX operations_timed;
        CREATE INDEX operations_timed ON operations(next_attempt_at)
          WHERE state IN ('waiting', 'unknown') AND successor_of IS NULL AND waits_for IS NULL;
        CREATE INDEX operations_held ON operations(waits_for) WHERE waits_for IS NOT NULL;

        -- What waits for an operation waits for what it does: it goes on when that is done or undone.
        CREATE TRIGGER operation_released AFTER UPDATE OF kind, closed_at ON operations
          WHEN new.closed_at IS NOT NULL OR old.kind <> new.kind
        BEGIN
          UPDATE operations
            SET waits_for = NULL, state = 'queued', reason = NULL, revision = revision + 1
            WHERE waits_for = new.seq;
        END;
        """

    /// Items in `properties` have their id and version, as the iOS SDK's dictionaries do, and are
    /// left out where there is none.
    private static let wholeItems = """
        DROP VIEW MS_TableOperations;
        CREATE VIEW MS_TableOperations AS
          SELECT o.seq AS id, o.item_id AS itemId, t.name AS "table", 0 AS tableKind,
            CASE WHEN o.kind <> 'delete'
              THEN json_object('type', CASE o.kind WHEN 'insert' THEN 0 ELSE 1 END)
            WHEN o.base_version IS NULL THEN json_object('type', 2, 'item',
              json_set(coalesce(o.base_row, '{}'), '$.id', o.item_id))
            ELSE json_object('type', 2, 'item', json_set(coalesce(o.base_row, '{}'),
              '$.id', o.item_id, '$.version', o.base_version)) END AS properties,
            o.created_at
          FROM operations o JOIN tables t ON t.id = o.table_id WHERE o.closed_at IS NULL;

        DROP VIEW MS_TableOperationErrors;
        CREATE VIEW MS_TableOperationErrors AS
          SELECT id, operationId, tableKind, CASE
            WHEN item IS NULL AND server_item IS NULL THEN properties
            WHEN item IS NULL THEN json_insert(properties, '$.serverItem', json(server_item))
            WHEN server_item IS NULL THEN json_insert(properties, '$.item', json(item))
            ELSE json_insert(properties, '$.item', json(item), '$.serverItem', json(server_item))
            END AS properties, created_at
          FROM (SELECT o.op_id AS id, o.seq AS operationId, 0 AS tableKind, json_object(
              'code', CASE o.state WHEN 'conflict' THEN -1303 ELSE -1301 END,
              'domain', 'com.Microsoft.MicrosoftAzureMobile.ErrorDomain',
              'description', coalesce(o.reason, ''), 'table', t.name,
              'operation', CASE o.kind WHEN 'insert' THEN 0 WHEN 'delete' THEN 2 ELSE 1 END,
              'itemId', o.item_id, 'statusCode', o.last_status) AS properties,
            CASE WHEN i.deleted = 0 THEN json_set(i.columns, '$.id', i.id) END AS item,
            CASE WHEN i.server_version IS NULL THEN json_set(i.shadow_columns, '$.id', i.id)
              ELSE json_set(i.shadow_columns, '$.id', i.id, '$.version', i.server_version,
                '$.deleted', json(CASE i.server_deleted WHEN 1 THEN 'true' ELSE 'false' END))
              END AS server_item,
            o.created_at
            FROM operations o JOIN tables t ON t.id = o.table_id
            LEFT JOIN items i ON i.table_id = o.table_id AND i.id = o.item_id
            WHERE o.state IN ('conflict', 'quarantined'));

        DROP VIEW MS_TableConfig;
        CREATE VIEW MS_TableConfig AS
          SELECT CAST(k.id AS TEXT) AS id, t.name AS "table", k.query_id AS key, 0 AS keyType,
            coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', k.updated_at), k.updated_at) AS value,
            coalesce(k.last_run_at, 0) AS created_at
          FROM tokens k JOIN tables t ON t.id = k.table_id WHERE k.updated_at IS NOT NULL;
        """
}
