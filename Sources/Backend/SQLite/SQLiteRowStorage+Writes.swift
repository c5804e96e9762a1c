import Storage
package import TablesProtocol

// Writes: each takes the table, looks, writes rows and effects, and keeps what changed in the table.
extension SQLiteRowStorage {
    package func insert(
        _ row: NewRow, into table: TableName, creating options: TableOptions, _ write: Write
    ) throws -> Insertion {
        let insertion: Insertion? = try self.write(isKept: write.isKept) { connection in
            var record = try SQLiteTables.findOrMake(connection, table, options)
            guard record.table.add(write.newColumns) else { return nil }
            if row.reusesNumbers {
                record.lastNumber = try SQLiteItems.highestNumber(connection, record)
            }
            var id = try row.id ?? record.nextNumber()
            while let old = try SQLiteItems.find(connection, record, id) {
                guard row.id == nil else { return .exists(old) }
                // The table had text ids before, and this number is one of them.
                id = try record.nextNumber()
            }
            let stamp = record.nextStamp(write)
            let inserted = try SQLiteItems.insert(
                connection, record, row, id, stamp, countingFrom: firstVersion)
            try SQLiteEffects.add(connection, record, id, .insert, write)
            try SQLiteTables.save(connection, record)
            return .inserted(inserted)
        }
        return insertion ?? .overtaken
    }

    package func change(
        _ changes: [RowChange], in table: TableName, as kind: Effect.Kind, _ write: Write
    ) throws -> [Row]? {
        try self.write(isKept: write.isKept) { connection in
            guard var record = try SQLiteTables.find(connection, table),
                record.table.add(write.newColumns)
            else { return nil }
            var rows: [Row] = []
            for change in changes {
                let stamp = record.nextStamp(write)
                guard
                    let row = try SQLiteItems.change(
                        connection, record, change, stamp, countingFrom: firstVersion)
                else { return nil }
                rows.append(row)
                try SQLiteEffects.add(connection, record, row.id, kind, write)
            }
            try SQLiteTables.save(connection, record)
            return rows
        }
    }

    package func remove(_ rows: [Row], from table: TableName, _ write: Write) throws -> Bool {
        let removed: Bool? = try self.write(isKept: write.isKept) { connection in
            guard let record = try SQLiteTables.find(connection, table) else { return nil }
            for row in rows {
                guard try SQLiteItems.remove(connection, record, row) else { return nil }
                try SQLiteEffects.add(connection, record, row.id, .delete, write)
            }
            return true
        }
        return removed == true
    }
}
