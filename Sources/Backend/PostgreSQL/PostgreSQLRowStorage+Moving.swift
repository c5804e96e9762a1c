import PostgreSQL
package import TablesProtocol

// Rows that come from another backend.
extension PostgreSQLRowStorage {
    package func standing(of ids: [ItemID], in table: TableName) throws -> [ItemID: Standing] {
        try passing {
            try pool.reading { connection in
                guard let record = try PostgreSQLTables.find(connection, table) else { return [:] }
                return try PostgreSQLArrivals.standings(connection, record, ids)
            }
        }
    }

    /// Where the connection is lost at the commit, the next attempt finds the rows and counts them as the same.
    package func move(
        _ rows: [MovedRow], into table: TableName, creating options: TableOptions, _ move: Move
    ) throws -> [MoveOutcome] {
        try passing {
            try pool.repeating { connection in
                try connection.transaction(.readCommitted) {
                    () throws -> PostgreSQLPool.End<[MoveOutcome]> in
                    guard let record = try locked(table, options, connection) else {
                        throw PostgreSQLError.unexpectedAnswer
                    }
                    return .commit(try self.move(rows, into: record, move, connection))
                }
            }
        }
    }

    private func move(
        _ rows: [MovedRow], into record: TableRecord, _ move: Move,
        _ connection: PostgreSQLConnection
    ) throws -> [MoveOutcome] {
        var standings = try PostgreSQLArrivals.standings(connection, record, rows.map(\.itemID))
        var moving = Moving(
            record, move, hasEffects: try PostgreSQLEffects.has(connection, record.table.name))
        try PostgreSQLArrivals.beginVersions(connection, at: move.at)
        var outcomes: [MoveOutcome] = []
        for row in rows {
            let (outcome, placed) = moving.take(row, over: standings[row.itemID] ?? Standing())
            outcomes.append(outcome)
            guard let placed else { continue }
            standings[row.itemID] = try PostgreSQLArrivals.put(
                connection, record, placed, move, versions)
        }
        try PostgreSQLTables.save(connection, moving.record)
        return outcomes
    }

    package func rows(in table: TableName, after id: String, limit: Int) throws -> [Row] {
        try passing {
            try pool.reading { connection in
                guard let record = try PostgreSQLTables.find(connection, table) else { return [] }
                return try connection.run(
                    """
                    SELECT \(PostgreSQLItems.places) FROM items
                    WHERE table_key = $1::bigint AND id > $2::text ORDER BY id LIMIT $3::bigint
                    """, [.integer(record.key), .text(id), .integer(Int64(limit))]
                ).map(PostgreSQLItems.row)
            }
        }
    }
}

/// The rows in PostgreSQL that came from another backend: `arrivals` beside `items`.
enum PostgreSQLArrivals {
    /// What there is of ids.
    static func standings(
        _ connection: PostgreSQLConnection, _ table: TableRecord, _ ids: [ItemID]
    ) throws -> [ItemID: Standing] {
        // PostgreSQL's texts have no U+0000, so there is no such row.
        let wanted = JSONValue.array(
            ids.filter { !$0.text.utf8.contains(0) }.map { .string($0.text) }
        ).text
        let list = "(SELECT jsonb_array_elements_text($2::jsonb))"
        var standings: [ItemID: Standing] = [:]
        for row in try connection.run(
            """
            SELECT \(PostgreSQLItems.places) FROM items
            WHERE table_key = $1::bigint AND id IN \(list)
            """, [.integer(table.key), .text(wanted)])
        {
            let item = try PostgreSQLItems.row(row)
            standings[ItemID(stored: item.id, kind: .string), default: Standing()].row = item
        }
        for row in try connection.run(
            """
            SELECT id, origin_ticks, version, stamp_ticks FROM arrivals
            WHERE table_key = $1::bigint AND id IN \(list)
            """, [.integer(table.key), .text(wanted)])
        {
            let id = ItemID(stored: try row.text(0), kind: .string)
            standings[id, default: Standing()].arrival = Arrival(
                updatedAt: row.textOrNull(1).flatMap { Int64($0) }.map { Instant(ticks: $0) },
                version: try row.text(2), stamp: Instant(ticks: try row.integer(3)))
        }
        return standings
    }

    /// The lock of the sequence during a move: `undersvn` as a number.
    private static let versionsLock: Int64 = 0x756E_6465_7273_766E

    /// Sees to it that the database gives no version that the other backend may have given.
    ///
    /// The sequence never goes back, or a version would be given twice: nodes take numbers meanwhile, so it is
    /// set only where it is behind, and by one move at a time.
    static func beginVersions(_ connection: PostgreSQLConnection, at instant: Instant) throws {
        try connection.run("SELECT pg_advisory_xact_lock($1::bigint)", [.integer(versionsLock)])
        try connection.run(
            "SELECT setval('versions', $1::bigint) FROM versions WHERE last_value < $1::bigint",
            [.integer(instant.milliseconds)])
    }

    /// Writes a row as it came, and that it came.
    static func put(
        _ connection: PostgreSQLConnection, _ table: TableRecord, _ placed: Moving.Placed,
        _ move: Move, _ versions: PostgreSQLItems.Versions
    ) throws -> Standing {
        let row = try PostgreSQLItems.put(connection, table, placed, move, versions)
        let arrival = Arrival(
            updatedAt: placed.row.updatedAt, version: row.version, stamp: row.updatedAt)
        try connection.run(
            """
            INSERT INTO arrivals (table_key, id, origin_ticks, version, stamp_ticks)
            VALUES ($1::bigint, $2::text, $3::bigint, $4::text, $5::bigint)
            ON CONFLICT (table_key, id) DO UPDATE SET origin_ticks = excluded.origin_ticks,
              version = excluded.version, stamp_ticks = excluded.stamp_ticks
            """,
            [
                .integer(table.key), .text(row.id),
                arrival.updatedAt.map { .integer($0.ticks) } ?? .null, .text(arrival.version),
                .integer(arrival.stamp.ticks),
            ])
        return Standing(row: row, arrival: arrival)
    }
}
