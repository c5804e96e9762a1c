import Storage
import TablesProtocol

/// Removes effects and tombstones that are no longer kept, in SQLite.
enum SQLiteExpiry {
    /// Removes those of one table that has any.
    /// - Parameter limit: the most effects, and the most tombstones.
    static func remove(_ connection: Connection, _ expiry: Expiry, limit: Int) throws -> Expired {
        let effects = expiry.effectsBefore?.ticks ?? .min
        let tombstones = expiry.tombstonesBefore?.milliseconds ?? .min
        let name = try connection.first(
            """
            SELECT name FROM tables WHERE
              EXISTS (SELECT 1 FROM effects WHERE effects.table_name = tables.name AND at < ?)
              OR EXISTS (SELECT 1 FROM items
                WHERE table_key = tables.key AND deleted = 1 AND stamp < ?) LIMIT 1
            """, [effects, tombstones]
        ) { $0.text(0) }
        guard let name = name.flatMap({ TableName($0) }),
            let table = try SQLiteTables.find(connection, name)
        else { return Expired() }
        return Expired(
            effects: try removeEffects(connection, table, before: effects, limit),
            tombstones: try removeTombstones(connection, table, before: tombstones, limit))
    }

    /// - Parameter time: in ticks.
    private static func removeEffects(
        _ connection: Connection, _ table: TableRecord, before time: Int64, _ limit: Int
    ) throws -> Int {
        let batch = """
            SELECT number, item_id, kind, at FROM effects WHERE table_name = ?2 AND at < ?3
            ORDER BY at, number LIMIT ?4
            """
        let lost = """
            SELECT item_id, at FROM (\(batch)) WHERE kind = 'delete'
              AND NOT EXISTS (SELECT 1 FROM items WHERE table_key = ?1 AND id = item_id)
            """
        let values: StatementValues = [table.key, table.table.name.text, time, limit]
        try connection.run(
            """
            UPDATE arrivals SET deleted_here = 1
            WHERE table_key = ?1 AND id IN (SELECT item_id FROM (\(lost)))
            """, values)
        try connection.run(
            """
            UPDATE tables SET
              first_effect = min(coalesce(first_effect, (SELECT min(at) FROM (\(batch)))),
                (SELECT min(at) FROM (\(batch)))),
              last_deletion = max(coalesce(last_deletion, (SELECT max(at) FROM (\(lost)))),
                coalesce((SELECT max(at) FROM (\(lost))), last_deletion))
            WHERE key = ?1 AND EXISTS (\(batch))
            """, values)
        try connection.run(
            "DELETE FROM effects WHERE number IN (SELECT number FROM (\(batch)))",
            values)
        return connection.changedRows
    }

    /// - Parameter time: in milliseconds.
    private static func removeTombstones(
        _ connection: Connection, _ table: TableRecord, before time: Int64, _ limit: Int
    ) throws -> Int {
        let batch = """
            SELECT id FROM items WHERE table_key = ?1 AND deleted = 1 AND stamp < ?2
            ORDER BY stamp, position LIMIT ?3
            """
        let values: StatementValues = [table.key, time, limit]
        // A deletion that came from the other backend is still known by its arrival.
        try connection.run(
            """
            UPDATE arrivals SET deleted_here = 1
            WHERE table_key = ?1 AND id IN (\(batch)) AND NOT EXISTS (
              SELECT 1 FROM items WHERE items.table_key = ?1 AND items.id = arrivals.id
                AND items.version = arrivals.version
                AND items.stamp_ticks = arrivals.stamp_ticks)
            """, values)
        try connection.run(
            """
            UPDATE tables SET last_tombstone = max(coalesce(last_tombstone, 0),
              (SELECT max(stamp_ticks) FROM items WHERE table_key = ?1 AND id IN (\(batch))))
            WHERE key = ?1 AND EXISTS (\(batch))
            """, values)
        return try SQLiteItems.takeOut(
            connection, table, where: "table_key = ?1 AND id IN (\(batch))", values)
    }

    /// The times of the oldest effect and tombstone.
    static func oldest(_ connection: Connection) throws -> OldestKept {
        let effect = try connection.integer(
            """
            SELECT min((SELECT min(at) FROM effects WHERE effects.table_name = tables.name))
            FROM tables
            """)
        let tombstone = try connection.integer(
            """
            SELECT min((SELECT min(stamp) FROM items WHERE table_key = tables.key AND deleted = 1))
            FROM tables
            """)
        return OldestKept(
            effect: effect.map { Instant(ticks: $0) },
            tombstone: tombstone.map { Instant(milliseconds: $0) })
    }
}

extension SQLiteRowStorage {
    package func removeExpired(_ expiry: Expiry, limit: Int) throws -> Expired? {
        try writing { connection in
            try connection.transaction(.immediate) {
                try SQLiteExpiry.remove(connection, expiry, limit: limit)
            }
        }
    }

    package func oldestKept() throws -> OldestKept { try reading { try SQLiteExpiry.oldest($0) } }
}
