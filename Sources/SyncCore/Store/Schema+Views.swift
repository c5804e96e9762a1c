extension Schema {
    /// The SDKs' system tables with their names and columns, and the same as items for `/tables`.
    /// `properties` is the JSON that the iOS SDK keeps; only a delete carries its item there.
    static let sdkViews = """
        CREATE VIEW MS_TableOperations AS
          SELECT o.seq AS id, o.item_id AS itemId, t.name AS "table", 0 AS tableKind,
            CASE WHEN o.kind = 'delete' THEN json_object('type', 2, 'item',
              json_set(coalesce(o.base_row, '{}'), '$.id', o.item_id))
            ELSE json_object('type', CASE o.kind WHEN 'insert' THEN 0 ELSE 1 END) END AS properties,
            o.created_at
          FROM operations o JOIN tables t ON t.id = o.table_id WHERE o.closed_at IS NULL;

        CREATE VIEW MS_TableOperationErrors AS
          SELECT o.op_id AS id, o.seq AS operationId, 0 AS tableKind, json_object(
            'code', CASE o.state WHEN 'conflict' THEN -1303 ELSE -1301 END,
            'domain', 'com.Microsoft.MicrosoftAzureMobile.ErrorDomain',
            'description', coalesce(o.reason, ''), 'table', t.name,
            'operation', CASE o.kind WHEN 'insert' THEN 0 WHEN 'delete' THEN 2 ELSE 1 END,
            'itemId', o.item_id, 'statusCode', o.last_status,
            'item', json(CASE WHEN i.deleted = 0 THEN i.columns END),
            'serverItem', json(i.shadow_columns)) AS properties, o.created_at
          FROM operations o JOIN tables t ON t.id = o.table_id
          LEFT JOIN items i ON i.table_id = o.table_id AND i.id = o.item_id
          WHERE o.state IN ('conflict', 'quarantined');

        CREATE VIEW MS_TableConfig AS
          SELECT k.id AS id, t.name AS "table", k.query_id AS key, 0 AS keyType,
            k.updated_at AS value, coalesce(k.last_run_at, 0) AS created_at
          FROM tokens k JOIN tables t ON t.id = k.table_id WHERE k.updated_at IS NOT NULL;

        CREATE VIEW MS_TableOperations_items AS
          SELECT CAST(id AS TEXT) AS id, json_object('itemId', itemId, 'table', "table",
            'tableKind', tableKind, 'properties', properties || '') AS columns, created_at,
            created_at AS stamp, 'AAAAAAAAAAA=' AS version, 0 AS deleted
          FROM MS_TableOperations;
        CREATE VIEW MS_TableOperationErrors_items AS
          SELECT id, json_object('operationId', operationId, 'tableKind', tableKind, 'properties',
            properties || '') AS columns, created_at, created_at AS stamp, 'AAAAAAAAAAA=' AS version,
            0 AS deleted
          FROM MS_TableOperationErrors;
        CREATE VIEW MS_TableConfig_items AS
          SELECT CAST(id AS TEXT) AS id, json_object('table', "table", 'key', key, 'keyType',
            keyType, 'value', value) AS columns, created_at, created_at AS stamp,
            'AAAAAAAAAAA=' AS version, 0 AS deleted
          FROM MS_TableConfig;
        """
}
