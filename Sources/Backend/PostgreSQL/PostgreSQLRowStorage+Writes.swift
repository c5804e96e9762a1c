import PostgreSQL
package import TablesProtocol

// Writes: each takes the table's lock, writes rows and effects, and keeps what changed in the table.
extension PostgreSQLRowStorage {
    package func insert(
        _ row: NewRow, into table: TableName, creating options: TableOptions, _ write: Write
    ) throws -> Insertion {
        let insertion: Insertion? = try self.write(to: table, creating: options, write) {
            (writing: inout Writing) in
            guard writing.record.table.add(write.newColumns) else { return nil }
            if row.reusesNumbers {
                writing.record.lastNumber = try PostgreSQLItems.highestNumber(
                    writing.connection, writing.record)
            }
            var id = try row.id ?? writing.record.nextNumber()
            while let old = try PostgreSQLItems.find(writing.connection, table, id) {
                guard row.id == nil else { return .exists(old) }
                // The table had text ids before, and this number is one of them.
                id = try writing.record.nextNumber()
            }
            let stamp = writing.record.nextStamp(write)
            let inserted = try PostgreSQLItems.insert(
                writing.connection, writing.record, row, id, stamp, versions)
            try writing.log(id, .insert)
            return .inserted(inserted)
        }
        return insertion ?? .overtaken
    }

    package func change(
        _ changes: [RowChange], in table: TableName, as kind: Effect.Kind, _ write: Write
    ) throws -> [Row]? {
        try self.write(to: table, creating: nil, write) { (writing: inout Writing) in
            guard writing.record.table.add(write.newColumns) else { return nil }
            var rows: [Row] = []
            for change in changes {
                let stamp = writing.record.nextStamp(write)
                guard
                    let row = try PostgreSQLItems.change(
                        writing.connection, writing.record, change, stamp, versions)
                else { return nil }
                rows.append(row)
                try writing.log(row.id, kind)
            }
            return rows
        }
    }

    package func remove(_ rows: [Row], from table: TableName, _ write: Write) throws -> Bool {
        let removed: Bool? = try self.write(to: table, creating: nil, write) {
            (writing: inout Writing) in
            for row in rows {
                guard try PostgreSQLItems.remove(writing.connection, writing.record, row) else {
                    return nil
                }
                try writing.log(row.id, .delete)
            }
            return true
        }
        return removed == true
    }

    /// A write while its transaction is open.
    private struct Writing {
        let connection: PostgreSQLConnection
        let write: Write
        var record: TableRecord
        /// The first line that it added to the log of effects.
        var line: PostgreSQLEffects.Line?

        mutating func log(_ id: String, _ kind: Effect.Kind) throws {
            let line = try PostgreSQLEffects.add(connection, record, id, kind, write)
            self.line = self.line ?? line
        }
    }

    /// A write whose connection was lost at its commit: it may have taken effect.
    private struct InDoubt<Value> {
        let line: PostgreSQLEffects.Line
        let value: Value
    }

    /// Runs a write in one transaction under the lock of its table.
    ///
    /// Where the connection is lost at the commit, the next attempt takes the lock, so that the earlier
    /// one is over, and looks whether its line is in the log. So nothing takes effect twice.
    /// - Parameter body: what gives nil is rolled back.
    private func write<Value>(
        to table: TableName, creating options: TableOptions?, _ write: Write,
        _ body: (inout Writing) throws -> Value?
    ) throws -> Value? {
        var inDoubt: InDoubt<Value>?
        return try mappingTransientErrors {
            try pool.retrying { connection in
                var committing: InDoubt<Value>?
                do {
                    let value = try connection.transaction(
                        .readCommitted, beforeCommit: hooks.beforeCommit
                    ) { () throws -> PostgreSQLPool.End<Value?> in
                        guard let record = try locked(table, options, connection) else {
                            return .rollBack(nil)
                        }
                        if let earlier = inDoubt {
                            if try PostgreSQLEffects.has(connection, earlier.line) {
                                // The standby may not have it yet.
                                try connection.writeMark()
                                return .commit(earlier.value)
                            }
                            inDoubt = nil
                        }
                        var writing = Writing(connection: connection, write: write, record: record)
                        guard let value = try body(&writing) else { return .rollBack(nil) }
                        guard write.isKept, let line = writing.line else { return .rollBack(value) }
                        if hooks.ordersWriters {
                            try PostgreSQLTables.save(connection, writing.record)
                        }
                        committing = InDoubt(line: line, value: value)
                        return .commit(value)
                    }
                    try hooks.afterCommit()
                    return value
                } catch let error as PostgreSQLError where error.isLostConnection {
                    inDoubt = committing ?? inDoubt
                    throw error
                }
            }
        }
    }

    /// The table with its lock; one of these options when there was none.
    func locked(
        _ name: TableName, _ options: TableOptions?, _ connection: PostgreSQLConnection
    ) throws -> TableRecord? {
        let find = { [hooks] in
            try hooks.ordersWriters
                ? PostgreSQLTables.lock(connection, name) : PostgreSQLTables.find(connection, name)
        }
        if let found = try find() { return found }
        guard let options else { return nil }
        try PostgreSQLTables.make(connection, name, options, changing: false)
        return try find()
    }
}
