import Storage
import TablesProtocol

/// The rows in SQLite that came from another backend: `arrivals` beside `items`.
enum SQLiteArrivals {
    /// The row, arrival and deletion known for an id; all empty for an id that was never stored.
    static func knownRow(
        _ connection: Connection, _ table: TableRecord, _ id: String
    ) throws -> KnownRow {
        let arrival = try connection.first(
            """
            SELECT origin_ticks, version, stamp_ticks, deleted_here FROM arrivals
            WHERE table_key = ? AND id = ?
            """, [table.key, id]
        ) { row -> (Arrival, isDeletedHere: Bool) in
            let arrival = Arrival(
                updatedAt: (row[0] as Int64?).map { Instant(ticks: $0) }, version: row[1],
                stamp: Instant(ticks: row[2]))
            return (arrival, row[3])
        }
        var knownRow = KnownRow(
            row: try SQLiteItems.find(connection, table, id), arrival: arrival?.0)
        if knownRow.row == nil {
            knownRow.isDeletedForGood =
                try arrival?.isDeletedHere == true
                || isDeleted(connection, table.table.name, id)
            knownRow.rowsWithoutTrace = table.forgotten.rowsWithoutTrace
        }
        return knownRow
    }

    /// Whether an item's last effect is a delete.
    private static func isDeleted(
        _ connection: Connection, _ table: TableName, _ id: String
    ) throws -> Bool {
        try connection.integer(
            """
            SELECT kind = 'delete' FROM effects WHERE table_name = ? AND item_id = ?
            ORDER BY number DESC LIMIT 1
            """, [table.text, id]) == 1
    }

    /// Writes a row with its own stamp and version, and its arrival.
    static func put(
        _ connection: Connection, _ table: TableRecord, _ placed: Moving.Placed, _ move: Move
    ) throws {
        let version: String
        if placed.isKept {
            version = try putItem(connection, table, placed, move)
        } else {
            version = placed.row.version ?? ""
            try SQLiteItems.takeOut(
                connection, table, where: "table_key = ? AND id = ?", [table.key, placed.row.id])
        }
        try connection.run(
            """
            INSERT INTO arrivals (table_key, id, origin_ticks, version, stamp_ticks)
            VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (table_key, id) DO UPDATE SET origin_ticks = excluded.origin_ticks,
              version = excluded.version, stamp_ticks = excluded.stamp_ticks
            """,
            [
                table.key, placed.row.id, placed.row.updatedAt?.ticks, version,
                placed.stamp.ticks,
            ])
    }

    /// - Returns: the version that the row has now.
    private static func putItem(
        _ connection: Connection, _ table: TableRecord, _ placed: Moving.Placed, _ move: Move
    ) throws -> String {
        let versions: [String] = try connection.column(
            """
            INSERT INTO items (table_key, id, columns, created_at, created_ticks, stamp,
              stamp_ticks, revision, version, deleted)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, coalesce(?9, counted_version(?8)), ?10)
            ON CONFLICT (table_key, id) DO UPDATE SET columns = excluded.columns,
              created_at = excluded.created_at, created_ticks = excluded.created_ticks,
              stamp = excluded.stamp, stamp_ticks = excluded.stamp_ticks,
              revision = excluded.revision, version = excluded.version,
              deleted = excluded.deleted
            RETURNING version
            """,
            [
                table.key, placed.row.id, placed.row.columns.text, placed.createdAt.milliseconds,
                placed.createdAt.ticks, placed.stamp.milliseconds, placed.stamp.ticks,
                move.at.milliseconds, placed.row.version, placed.row.deleted,
            ])
        return versions[0]
    }
}

/// The log of effects in SQLite.
enum SQLiteEffects {
    /// Logs an effect in the transaction that has it.
    static func add(
        _ connection: Connection, _ record: TableRecord, _ id: String, _ kind: EffectKind,
        _ write: Write
    ) throws {
        try connection.run(
            """
            INSERT INTO effects (table_name, item_id, kind, method, idempotency_key, at)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                record.table.name.text, id, kind.rawValue, write.method, write.idempotencyKey,
                write.at.ticks,
            ])
    }

    /// The effects after a number, in order.
    static func list(_ connection: Connection, after: Int64, limit: Int) throws -> [Effect] {
        try connection.all(
            """
            SELECT number, table_name, item_id, kind, method, idempotency_key, at FROM effects
            WHERE number > ? ORDER BY number LIMIT ?
            """, [after, limit]
        ) { row in
            Effect(
                number: row[0], table: row[1], itemID: row[2],
                kind: EffectKind(rawValue: row[3]) ?? .update, method: row[4],
                idempotencyKey: row[5], at: Instant(ticks: row[6]))
        }
    }

    /// Whether a table had any effect, also one that is no longer kept.
    static func has(_ connection: Connection, _ record: TableRecord) throws -> Bool {
        if record.forgotten.firstEffect != nil { return true }
        return try connection.integer(
            "SELECT 1 FROM effects WHERE table_name = ? LIMIT 1", [record.table.name.text]) != nil
    }

    /// The number of effects on an item.
    static func count(_ connection: Connection, _ table: TableName, _ id: String) throws -> Int {
        let count = try connection.integer(
            "SELECT count(*) FROM effects WHERE table_name = ? COLLATE NOCASE AND item_id = ?",
            [table.text, id])
        return Int(count ?? 0)
    }
}
