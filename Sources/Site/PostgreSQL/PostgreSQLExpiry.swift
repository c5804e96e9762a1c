package import Backend
import PostgreSQL
import TablesProtocol

/// Removes effects and tombstones that are no longer kept, in PostgreSQL.
enum PostgreSQLExpiry {
    /// The lock of the node that removes, with the schema: `expiring` as a number.
    private static let lock: Int64 = 0x6578_7069_7269_6E67

    /// Removes those of one table that has any, in a transaction. It locks the table's line first, as each write
    /// does.
    /// - Returns: nil while another node is at it.
    static func remove(
        _ connection: PostgreSQLConnection, _ expiry: Expiry, limit: Int
    ) throws -> Expired? {
        let isFree = try connection.run(
            "SELECT pg_try_advisory_xact_lock(hashtextextended(current_schema()::text, $1::bigint))",
            [.integer(lock)])
        guard try isFree.first?.boolean(0) == true else { return nil }
        let effects = expiry.effectsBefore?.ticks ?? .min
        let tombstones = expiry.tombstonesBefore?.milliseconds ?? .min
        let names = try connection.run(
            """
            SELECT name FROM tables WHERE
              EXISTS (SELECT 1 FROM effects
                WHERE effects.folded = tables.folded AND at < $1::bigint)
              OR EXISTS (SELECT 1 FROM items
                WHERE table_key = tables.key AND deleted AND stamp < $2::bigint) LIMIT 1
            """, [.integer(effects), .integer(tombstones)])
        guard let name = try names.first.flatMap({ TableName(try $0.text(0)) }),
            let table = try PostgreSQLTables.lock(connection, name)
        else { return Expired() }
        return Expired(
            effects: try removeEffects(connection, table, before: effects, limit),
            tombstones: try removeTombstones(connection, table, before: tombstones, limit))
    }

    /// - Parameter time: in ticks.
    private static func removeEffects(
        _ connection: PostgreSQLConnection, _ table: TableRecord, before time: Int64, _ limit: Int
    ) throws -> Int {
        let items = PostgreSQLItems.partition(table.key)
        let counts = try connection.run(
            """
            WITH removed AS (
              DELETE FROM effects WHERE number IN (
                SELECT number FROM effects WHERE folded = $2::text AND at < $3::bigint
                ORDER BY at LIMIT $4::bigint)
              RETURNING item_id, kind, at
            ), lost AS (
              SELECT item_id, at FROM removed WHERE kind = 'delete'
                AND NOT EXISTS (SELECT 1 FROM \(items)
                  WHERE table_key = $1::bigint AND id = item_id)
            ), marked AS (
              UPDATE arrivals SET deleted_here = true
              WHERE table_key = $1::bigint AND id IN (SELECT item_id FROM lost)
            )
            UPDATE tables SET
              first_effect = least(first_effect, (SELECT min(at) FROM removed)),
              last_deletion = greatest(last_deletion, (SELECT max(at) FROM lost))
            WHERE key = $1::bigint RETURNING (SELECT count(*) FROM removed)
            """,
            [
                .integer(table.key), .text(table.table.name.key), .integer(time),
                .integer(Int64(limit)),
            ])
        return Int(try counts.first?.integer(0) ?? 0)
    }

    /// - Parameter time: in milliseconds.
    private static func removeTombstones(
        _ connection: PostgreSQLConnection, _ table: TableRecord, before time: Int64, _ limit: Int
    ) throws -> Int {
        // A deletion that came from the other backend is still known by its arrival.
        let items = PostgreSQLItems.partition(table.key)
        let counts = try connection.run(
            """
            WITH removed AS (
              DELETE FROM \(items) WHERE table_key = $1::bigint AND deleted AND id IN (
                SELECT id FROM \(items)
                WHERE table_key = $1::bigint AND deleted AND stamp < $2::bigint
                ORDER BY stamp LIMIT $3::bigint)
              RETURNING id, version, stamp_ticks
            ), marked AS (
              UPDATE arrivals SET deleted_here = true FROM removed
              WHERE arrivals.table_key = $1::bigint AND arrivals.id = removed.id
                AND (arrivals.version <> removed.version
                  OR arrivals.stamp_ticks <> removed.stamp_ticks)
            )
            UPDATE tables SET
              last_tombstone = greatest(last_tombstone, (SELECT max(stamp_ticks) FROM removed))
            WHERE key = $1::bigint RETURNING (SELECT count(*) FROM removed)
            """, [.integer(table.key), .integer(time), .integer(Int64(limit))])
        return Int(try counts.first?.integer(0) ?? 0)
    }

    /// The times of the oldest effect and tombstone.
    static func oldest(_ connection: PostgreSQLConnection) throws -> OldestKept {
        let rows = try connection.run(
            """
            SELECT
              min((SELECT min(at) FROM effects WHERE effects.folded = tables.folded)),
              min((SELECT min(stamp) FROM items WHERE table_key = tables.key AND deleted))
            FROM tables
            """)
        let number = { (place: Int) in rows.first?.textOrNull(place).flatMap { Int64($0) } }
        return OldestKept(
            effect: number(0).map { Instant(ticks: $0) },
            tombstone: number(1).map { Instant(milliseconds: $0) })
    }
}

extension PostgreSQLRowStorage {
    package func removeExpired(_ expiry: Expiry, limit: Int) throws -> Expired? {
        try mappingTransientErrors {
            try pool.retrying { connection in
                try connection.transaction(.readCommitted) {
                    .commit(try PostgreSQLExpiry.remove(connection, expiry, limit: limit))
                }
            }
        }
    }

    package func oldestKept() throws -> OldestKept {
        try runningOneStatement { try PostgreSQLExpiry.oldest($0) }
    }
}
