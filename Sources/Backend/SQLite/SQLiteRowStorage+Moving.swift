import Storage
package import TablesProtocol

// Rows that come from another backend.
extension SQLiteRowStorage {
    package func knownRows(of ids: [ItemID], in table: TableName) throws -> [ItemID: KnownRow] {
        try inReadTransaction { connection in
            guard let record = try SQLiteTables.find(connection, table) else { return [:] }
            var knownRows: [ItemID: KnownRow] = [:]
            for id in ids {
                knownRows[id] = try SQLiteArrivals.knownRow(connection, record, id.text)
            }
            return knownRows
        }
    }

    package func move(
        _ rows: [MovedRow], into table: TableName, creating options: TableOptions, _ move: Move
    ) throws -> [MoveOutcome] {
        let done: [MoveOutcome]? = try self.write { connection in
            let record = try SQLiteTables.findOrMake(connection, table, options)
            var moving = Moving(
                record, move, hasEffects: try SQLiteEffects.has(connection, record.table.name))
            var outcomes: [MoveOutcome] = []
            for row in rows {
                let knownRow = try SQLiteArrivals.knownRow(connection, record, row.id)
                let (outcome, placed) = moving.take(row, over: knownRow)
                outcomes.append(outcome)
                if let placed { try SQLiteArrivals.put(connection, record, placed, move) }
            }
            try SQLiteTables.save(connection, moving.record)
            return outcomes
        }
        return done ?? []
    }

    package func rows(in table: TableName, after id: String, limit: Int) throws -> [Row] {
        try inReadTransaction { connection in
            try SQLiteTables.find(connection, table).map {
                try SQLiteItems.page(connection, $0, after: id, limit: limit)
            } ?? []
        }
    }
}
