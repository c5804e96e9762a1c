import Storage
import Synchronization
package import TablesProtocol

/// Rows in SQLite: one file, or nothing but memory.
///
/// One connection writes. Writes take its lock before their first read, so what a call has read is still so
/// when it writes. A file is read on connections of their own, so that no read waits for a write or for
/// another read; in memory there is the one connection.
package final class SQLiteRowStorage: RowStorage {
    package let callThreads = CallThreads.callersThread
    /// Nil in memory. They close before the connection that writes: as the last one it empties the log.
    private let readers: Readers?
    let connection: ConnectionQueue
    private let meter: ConnectionMeter
    /// Steps of SQLite's machine that a list may take.
    private let listSteps: Int
    /// The least number that versions are counted from.
    let firstVersion: Int64
    /// Receives the changes; nil before ``tellChanges(to:)``. Called on the connection that writes, in the order
    /// of commits.
    private let changeReceiver = Mutex<(@Sendable (ChangeNews) -> Void)?>(nil)

    /// Opens the database.
    ///
    /// - Parameters:
    ///   - path: its file; nil keeps everything in memory.
    ///   - start: now, where the database may be a restored backup: versions are counted from these
    ///     milliseconds (docs/decisions/site.md). Nil counts from 0.
    /// - Throws: SQLite's error when the file cannot be opened or is not that of a backend.
    package convenience init(at path: String? = nil, startedAt start: Instant? = nil) throws {
        try self.init(at: path, listSteps: Limits.listSteps, startedAt: start)
    }

    init(at path: String?, listSteps: Int, startedAt start: Instant? = nil) throws {
        let functions = ScalarFunction.ofLists + [.countedVersion]
        if let path {
            connection = try ConnectionQueue.writer(path, functions: functions)
            readers = Readers(
                path, functions: functions, count: Limits.readers, uptime: { Uptime.now })
        } else {
            connection = try ConnectionQueue.inMemory(
                functions: functions, uptime: { Uptime.now })
            readers = nil
        }
        meter = ConnectionMeter(limit: path == nil ? 1 : Limits.readers + 1)
        self.listSteps = listSteps
        firstVersion = try connection.transaction(.immediate) { connection in
            try SQLiteSchema.create(connection)
            guard let start else { return 0 }
            return try SQLiteSchema.begin(connection, at: start)
        }
    }

    /// All that a storage held at one moment.
    package struct Copy: Sendable {
        fileprivate let connection: ConnectionQueue
    }

    /// A copy of all that it holds.
    @available(*, noasync)
    package func copy() throws -> Copy {
        let copy = Copy(connection: try ConnectionQueue.inMemory())
        try Backup.copy(connection, over: copy.connection)
        return copy
    }

    /// Goes back to a copy, as a server does that is restored from an older backup.
    @available(*, noasync)
    package func restore(_ copy: Copy) throws { try Backup.copy(copy.connection, over: connection) }

    /// Lends a connection that reads.
    @available(*, noasync)
    func reading<T: Sendable>(_ body: (Connection) throws -> T) throws -> T {
        guard let readers else { return try writing(body) }
        var use = meter.ask()
        defer { meter.end(use) }
        return try readers.access { connection in
            meter.lend(&use)
            return try body(connection)
        }
    }

    /// Lends the connection that writes.
    @available(*, noasync)
    func writing<T>(_ body: (Connection) throws -> T) throws -> T {
        var use = meter.ask()
        defer { meter.end(use) }
        return try connection.access { connection in
            meter.lend(&use)
            return try body(connection)
        }
    }

    /// Runs reads that see one moment.
    @available(*, noasync)
    func inReadTransaction<T: Sendable>(_ body: (Connection) throws -> T) throws -> T {
        try reading { connection in
            try connection.transaction(.deferred) { try body(connection) }
        }
    }

    /// Runs a write to a table in one transaction.
    /// - Parameters:
    ///   - owner: the user whose rows alone it changes; nil for those of all.
    ///   - body: what gives nil is rolled back.
    @available(*, noasync)
    func write<T>(
        to table: TableName, owner: String? = nil, isKept: Bool = true,
        _ body: (Connection) throws -> T?
    ) throws -> T? {
        try writing { connection in
            let made = try connection.transaction(.immediate) {
                var made: T?
                try connection.savepoint {
                    made = try body(connection)
                    return isKept && made != nil
                }
                return made
            }
            if isKept, made != nil, let receive = changeReceiver.withLock({ $0 }),
                let record = try? SQLiteTables.find(connection, table), record.lastStamp > 0
            {
                let stamp = Instant(ticks: record.lastStamp)
                receive(.changed([TableChange(table: table, stamp: stamp, owner: owner)]))
            }
            return made
        }
    }
}

// What the serving part asks for.
extension SQLiteRowStorage {
    package var load: StorageLoad { meter.load }

    package func check() throws { _ = try effects(after: .max, limit: 1) }

    package func table(_ name: TableName) throws -> StoredTable? {
        try reading { try SQLiteTables.find($0, name)?.table }
    }

    package func declare(_ name: TableName, _ options: TableOptions) throws {
        try writing { connection in
            try connection.transaction(.immediate) {
                try SQLiteTables.declare(connection, name, options)
                guard let record = try SQLiteTables.find(connection, name) else {
                    throw StorageError.damaged
                }
                let column = options.ownerColumn.map { record.table.spelling($0) }
                try OwnerIndexes.keep(connection, record.key, column: column)
            }
        }
    }

    package func rows(in table: TableName) throws -> [Row] {
        try inReadTransaction { connection in
            try SQLiteTables.find(connection, table).map { try SQLiteItems.all(connection, $0) }
                ?? []
        }
    }

    package func get(_ id: String, in table: TableName) throws -> Row? {
        try reading { try SQLiteItems.find($0, in: table, id) }
    }

    package func list(_ query: RowQuery) throws -> RowList {
        try inReadTransaction { connection in
            guard let table = try SQLiteTables.find(connection, query.table) else {
                return RowList(count: query.counts ? 0 : nil)
            }
            var list = try ListSQL(query, table).list(connection, steps: listSteps)
            list.deletionsAfter = table.forgotten.lastTombstone
            return list
        }
    }

    package func effects(after number: Int64, limit: Int) throws -> [Effect] {
        try reading { try SQLiteEffects.list($0, after: number, limit: limit) }
    }

    package func effectCount(of id: String, in table: TableName) throws -> Int {
        try reading { try SQLiteEffects.count($0, table, id) }
    }

    package func keepLogin(token: String, user: String) throws {
        try writing { try LoginTokens.add($0, token: token, user: user) }
    }

    package func user(ofToken token: String) throws -> String? {
        try reading { try LoginTokens.user($0, token: token) }
    }

    package func endLogin(token: String) throws {
        try writing { try LoginTokens.remove($0, token: token) }
    }
}

// Writes: each takes the table, looks, writes rows and effects, and keeps what changed in the table.
extension SQLiteRowStorage {
    package func insert(
        _ row: NewRow, into table: TableName, creating options: TableOptions, _ write: Write
    ) throws -> Insertion {
        let insertion: Insertion? = try self.write(
            to: table, owner: write.owner, isKept: write.isKept
        ) { connection in
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
        _ changes: [RowChange], in table: TableName, as kind: EffectKind, _ write: Write
    ) throws -> [Row]? {
        try self.write(to: table, owner: write.owner, isKept: write.isKept) { connection in
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
        let removed: Bool? = try self.write(
            to: table, owner: write.owner, isKept: write.isKept
        ) { connection in
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

extension SQLiteRowStorage {
    package func tellChanges(to receive: @escaping @Sendable (ChangeNews) -> Void) {
        connection.schedule { [weak self] connection in
            self?.changeReceiver.withLock { $0 = receive }
            receive(.tables((try? SQLiteTables.changes(connection)) ?? []))
        }
    }
}

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
        let done: [MoveOutcome]? = try self.write(to: table) { connection in
            let record = try SQLiteTables.findOrMake(connection, table, options)
            var moving = Moving(
                record, move, hasEffects: try SQLiteEffects.has(connection, record))
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
