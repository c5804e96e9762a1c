import Storage
import TablesProtocol

/// The log of effects in SQLite.
enum SQLiteEffects {
    /// Logs an effect in the transaction that has it.
    static func add(
        _ connection: Connection, _ record: TableRecord, _ id: String, _ kind: Effect.Kind,
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
                kind: Effect.Kind(rawValue: row[3]) ?? .update, method: row[4],
                idempotencyKey: row[5], at: Instant(ticks: row[6]))
        }
    }

    /// Whether a table had any effect.
    static func has(_ connection: Connection, _ table: TableName) throws -> Bool {
        try connection.integer(
            "SELECT 1 FROM effects WHERE table_name = ? LIMIT 1", [table.text]) != nil
    }

    /// The number of effects on an item.
    static func count(_ connection: Connection, _ table: TableName, _ id: String) throws -> Int {
        let count = try connection.integer(
            "SELECT count(*) FROM effects WHERE table_name = ? COLLATE NOCASE AND item_id = ?",
            [table.text, id])
        return Int(count ?? 0)
    }
}
