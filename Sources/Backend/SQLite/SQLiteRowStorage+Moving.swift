import Storage
package import TablesProtocol

// Rows that come from another backend.
extension SQLiteRowStorage {
    package func standing(of ids: [ItemID], in table: TableName) throws -> [ItemID: Standing] {
        try readingOnce { connection in
            guard let record = try Tables.find(connection, table) else { return [:] }
            var standings: [ItemID: Standing] = [:]
            for id in ids {
                standings[id] = try Arrivals.standing(connection, record, id.text)
            }
            return standings
        }
    }

    package func move(
        _ rows: [MovedRow], into table: TableName, creating options: TableOptions, _ move: Move
    ) throws -> [MoveOutcome] {
        let done: [MoveOutcome]? = try self.write { connection in
            let record = try Tables.findOrMake(connection, table, options)
            var moving = Moving(
                record, move, hasEffects: try Effects.has(connection, record.table.name))
            var outcomes: [MoveOutcome] = []
            for row in rows {
                let standing = try Arrivals.standing(connection, record, row.id)
                let (outcome, placed) = moving.take(row, over: standing)
                outcomes.append(outcome)
                if let placed { try Arrivals.put(connection, record, placed, move) }
            }
            try Tables.save(connection, moving.record)
            return outcomes
        }
        return done ?? []
    }

    package func rows(in table: TableName, after id: String, limit: Int) throws -> [Row] {
        try readingOnce { connection in
            try Tables.find(connection, table).map {
                try Items.page(connection, $0, after: id, limit: limit)
            } ?? []
        }
    }
}

/// The rows in SQLite that came from another backend: `arrivals` beside `items`.
enum Arrivals {
    /// What there is of an id.
    static func standing(
        _ connection: Connection, _ table: TableRecord, _ id: String
    ) throws -> Standing {
        let arrival = try connection.first(
            "SELECT origin_ticks, version, stamp_ticks FROM arrivals WHERE table_key = ? AND id = ?",
            [table.key, id]
        ) { row in
            Arrival(
                updatedAt: (row[0] as Int64?).map { Instant(ticks: $0) }, version: row[1],
                stamp: Instant(ticks: row[2]))
        }
        var standing = Standing(row: try Items.find(connection, table, id), arrival: arrival)
        if standing.row == nil {
            standing.isDeletedForGood = try isDeleted(connection, table.table.name, id)
        }
        return standing
    }

    /// Whether the last that a client did to an item is a delete.
    private static func isDeleted(
        _ connection: Connection, _ table: TableName, _ id: String
    ) throws -> Bool {
        try connection.integer(
            """
            SELECT kind = 'delete' FROM effects WHERE table_name = ? AND item_id = ?
            ORDER BY number DESC LIMIT 1
            """, [table.text, id]) == 1
    }

    /// Writes a row as it came, and that it came.
    static func put(
        _ connection: Connection, _ table: TableRecord, _ placed: Moving.Placed, _ move: Move
    ) throws {
        let version: String
        if placed.isKept {
            version = try putItem(connection, table, placed, move)
        } else {
            version = placed.row.version ?? ""
            try connection.run(
                "DELETE FROM items WHERE table_key = ? AND id = ?", [table.key, placed.row.id])
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
