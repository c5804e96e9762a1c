import PostgreSQL
package import TablesProtocol

// Rows that come from another backend.
extension PostgreSQLRowStorage {
    package func knownRows(of ids: [ItemID], in table: TableName) throws -> [ItemID: KnownRow] {
        try mappingTransientErrors {
            try pool.inReadTransaction { connection in
                guard let record = try PostgreSQLTables.find(connection, table) else { return [:] }
                return try PostgreSQLArrivals.knownRows(connection, record, ids)
            }
        }
    }

    /// Where the connection is lost at the commit, the next attempt finds the rows and counts them as the same.
    package func move(
        _ rows: [MovedRow], into table: TableName, creating options: TableOptions, _ move: Move
    ) throws -> [MoveOutcome] {
        try mappingTransientErrors {
            try pool.retrying { connection in
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
        var knownRows = try PostgreSQLArrivals.knownRows(connection, record, rows.map(\.itemID))
        var moving = Moving(
            record, move, hasEffects: try PostgreSQLEffects.has(connection, record.table.name))
        try PostgreSQLArrivals.beginVersions(connection, at: move.at)
        var outcomes: [MoveOutcome] = []
        var written: [ItemID: Moving.Placed] = [:]
        // Rows without an order are listed as they were inserted.
        var order: [ItemID] = []
        for row in rows {
            let (outcome, placed) = moving.take(row, over: knownRows[row.itemID] ?? KnownRow())
            outcomes.append(outcome)
            guard let placed else { continue }
            // The same id may come again in these rows.
            knownRows[row.itemID] = KnownRow(placed)
            if written.updateValue(placed, forKey: row.itemID) == nil { order.append(row.itemID) }
        }
        let placed = order.compactMap { written[$0] }
        try PostgreSQLArrivals.put(connection, record, placed.filter(\.isKept), move, versions)
        try PostgreSQLArrivals.remove(connection, record, placed.filter { !$0.isKept })
        try PostgreSQLTables.save(connection, moving.record)
        return outcomes
    }

    package func rows(in table: TableName, after id: String, limit: Int) throws -> [Row] {
        try mappingTransientErrors {
            try pool.inReadTransaction { connection in
                guard let record = try PostgreSQLTables.find(connection, table) else { return [] }
                return try connection.run(
                    """
                    SELECT \(PostgreSQLItems.selectedColumns) FROM items
                    WHERE table_key = $1::bigint AND id > $2::text ORDER BY id LIMIT $3::bigint
                    """, [.integer(record.key), .text(id), .integer(Int64(limit))]
                ).map(PostgreSQLItems.row)
            }
        }
    }
}
