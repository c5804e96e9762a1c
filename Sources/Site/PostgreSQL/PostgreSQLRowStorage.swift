public import Backend
import PostgreSQL
public import TablesProtocol

/// Rows in PostgreSQL, which any number of nodes may share.
///
/// Calls run on the pool's threads and wait there for the server. A connection that is lost, also to a
/// primary that failed, is made anew, and the call begins anew on it.
package final class PostgreSQLRowStorage: RowStorage {
    let pool: PostgreSQLPool
    let schema: String
    let hooks: Hooks
    let versions: PostgreSQLItems.Versions
    /// The writes of each table that wait for its lock.
    let groups = WaitingGroups<TableName, GroupedWrite>()

    /// The parts that tests change.
    struct Hooks: Sendable {
        /// The most milliseconds that the statements of a list may take, all together.
        var listMilliseconds = Limits.postgreSQLListMilliseconds
        /// The same for a list that is tried as a brief call.
        var briefListMilliseconds = Limits.briefListMilliseconds
        /// Whether writers of a table wait for one another. Tests show what is missed where they do not.
        var ordersWriters = true
        /// Called when nothing is left but to commit.
        var beforeCommit: @Sendable () -> Void = {}
        /// Called when the commit has been answered. What it throws stands for an answer that was lost.
        var afterCommit: @Sendable () throws -> Void = {}
    }

    package var callThreads: CallThreads {
        .ownThreads { [pool] lane, work in
            let poolLane: PostgreSQLPool.Lane =
                switch lane {
                case .brief: .brief
                case .list: .list
                case .longList: .longList
                }
            return switch pool.submit(poolLane, work) {
            case .begins: .begins
            case .waits: .waits
            case .refused: .refused
            }
        }
    }

    /// Opens the database and makes its schema ready.
    ///
    /// - Parameters:
    ///   - url: `postgresql://…` as libpq reads it, with one host or several.
    ///   - schema: where all tables of the backend are.
    ///   - countsRows: whether versions count the writes of their row, as those of the captured servers do;
    ///     otherwise the database gives each of them once.
    ///   - start: now, where the database may be a restored backup: versions are counted from these
    ///     milliseconds (docs/decisions/site.md). Nil counts on from the last one.
    /// - Throws: an error whose description is a sentence.
    package convenience init(
        at url: String, schema: String = "understudy", countsRows: Bool = false,
        startedAt start: Instant? = nil
    ) throws {
        try self.init(
            at: url, schema: schema, Hooks(), countsRows ? .ofRow : .ofDatabase, startedAt: start)
    }

    init(
        at url: String, schema: String, _ hooks: Hooks,
        _ versions: PostgreSQLItems.Versions = .ofDatabase, startedAt start: Instant? = nil
    ) throws {
        self.versions = versions
        pool = try PostgreSQLPool(url, schema: schema)
        self.schema = schema
        self.hooks = hooks
        try PostgreSQLSchema.migrate(pool, schema: schema, startedAt: start)
    }
}

// What the serving part asks for.
extension PostgreSQLRowStorage {
    package var load: StorageLoad {
        let load = pool.load
        return StorageLoad(
            limit: load.limit, inUse: load.inUse, waiting: load.waiting, calls: load.calls,
            seconds: load.seconds)
    }

    /// Asks the database once, and does not wait for a server that comes back.
    package func check() throws {
        try mappingTransientErrors { _ = try pool.withConnection { try $0.run("SELECT 1") } }
    }

    package func table(_ name: TableName) throws -> StoredTable? {
        try runningOneStatement { try PostgreSQLTables.find($0, name)?.table }
    }

    package func declare(_ name: TableName, _ options: TableOptions) throws {
        try runningOneStatement { try PostgreSQLTables.make($0, name, options, changing: true) }
    }

    package func rows(in table: TableName) throws -> [Row] {
        try runningOneStatement { try PostgreSQLItems.all($0, table) }
    }

    package func get(_ id: String, in table: TableName) throws -> Row? {
        try runningOneStatement { connection in
            try PostgreSQLItems.key(connection, table).flatMap { key in
                try PostgreSQLItems.find(connection, table, key, id)
            }
        }
    }

    package func list(_ query: RowQuery) throws -> RowList {
        let milliseconds =
            query.time == .brief ? hooks.briefListMilliseconds : hooks.listMilliseconds
        return try mappingTransientErrors {
            do {
                return try pool.inReadTransaction(milliseconds: milliseconds) { connection in
                    guard let table = try PostgreSQLTables.find(connection, query.table) else {
                        return RowList(count: query.counts ? 0 : nil)
                    }
                    var list = try PostgreSQLList(query, table)
                        .rows(connection, milliseconds: milliseconds)
                    list.deletionsAfter = table.forgotten.lastTombstone
                    return list
                }
            } catch let error as PostgreSQLError where error.isCancelledStatement {
                // The server's time-out of a statement.
                throw PostgreSQLList.tookTooLong(milliseconds)
            } catch is PostgreSQLList.TimeIsOver {
                throw PostgreSQLList.tookTooLong(milliseconds)
            }
        }
    }

    package func effects(after number: Int64, limit: Int) throws -> [Effect] {
        try runningOneStatement { try PostgreSQLEffects.list($0, after: number, limit: limit) }
    }

    package func effectCount(of id: String, in table: TableName) throws -> Int {
        try runningOneStatement { try PostgreSQLEffects.count($0, table, id) }
    }

    package func keepLogin(token: String, user: String) throws {
        _ = try runningOneStatement { connection in
            try connection.run(
                """
                INSERT INTO logins (digest, user_id) VALUES (\(Self.digest), $2::text)
                ON CONFLICT (digest) DO UPDATE SET user_id = excluded.user_id
                """, [.text(token), .text(user)])
        }
    }

    package func user(ofToken token: String) throws -> String? {
        if token.utf8.contains(0) { return nil }
        return try runningOneStatement { connection in
            try connection.run(
                "SELECT user_id FROM logins WHERE digest = \(Self.digest)", [.text(token)]
            ).first?.text(0)
        }
    }

    package func endLogin(token: String) throws {
        if token.utf8.contains(0) { return }
        _ = try runningOneStatement { connection in
            try connection.run("DELETE FROM logins WHERE digest = \(Self.digest)", [.text(token)])
        }
    }

    /// The SQL for the digest of a token, which is stored instead of the token.
    private static let digest = "sha256(convert_to($1::text, 'UTF8'))"

    /// Runs one statement, which may be repeated.
    func runningOneStatement<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws
        -> Value
    {
        try mappingTransientErrors { try pool.retrying(body) }
    }

    /// Runs a call, and makes ``StorageUnavailable`` of errors that do not last.
    func mappingTransientErrors<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw Self.mapped(error)
        }
    }

    /// ``StorageUnavailable`` for an error that does not last; every other error as it is.
    static func mapped(_ error: any Error) -> any Error {
        guard let error = error as? PostgreSQLError, error.isTransient else { return error }
        return StorageUnavailable(reason: error.description)
    }
}

// Writes: each has the table's lock, writes rows and effects, and keeps what changed in the table.
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
            let stamp = writing.record.nextStamp(write)
            while true {
                let id = try row.id ?? writing.record.nextNumber()
                if let inserted = try PostgreSQLItems.insert(
                    writing.connection, writing.record, row, id, stamp, versions)
                {
                    try writing.log(id, .insert)
                    return .inserted(inserted)
                }
                // Without an id of the client's, the table had text ids before, and this number is one of them.
                guard row.id != nil else { continue }
                guard
                    let old = try PostgreSQLItems.find(
                        writing.connection, table, writing.record.key, id)
                else { throw PostgreSQLError.unexpectedAnswer }
                return .exists(old)
            }
        }
        return insertion ?? .overtaken
    }

    package func change(
        _ changes: [RowChange], in table: TableName, as kind: EffectKind, _ write: Write
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
    struct Writing {
        let connection: PostgreSQLConnection
        let write: Write
        var record: TableRecord
        /// The first line that it added to the log of effects.
        fileprivate(set) var line: PostgreSQLEffects.Line?

        mutating func log(_ id: String, _ kind: EffectKind) throws {
            let line = try PostgreSQLEffects.add(connection, record, id, kind, write)
            self.line = self.line ?? line
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
            record, move, hasEffects: try PostgreSQLEffects.has(connection, record))
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
        if !placed.isEmpty {
            try PostgreSQLChanges.announce(connection, moving.record, owners: [nil])
        }
        return outcomes
    }

    package func rows(in table: TableName, after id: String, limit: Int) throws -> [Row] {
        try mappingTransientErrors {
            try pool.inReadTransaction { connection in
                guard let record = try PostgreSQLTables.find(connection, table) else { return [] }
                return try connection.run(
                    """
                    SELECT \(PostgreSQLItems.selectedColumns)
                    FROM \(PostgreSQLItems.partition(record.key))
                    WHERE table_key = $1::bigint AND id > $2::text ORDER BY id LIMIT $3::bigint
                    """, [.integer(record.key), .text(id), .integer(Int64(limit))]
                ).map(PostgreSQLItems.row)
            }
        }
    }
}

extension TablesBackend {
    /// Opens the backend on PostgreSQL.
    ///
    /// - Parameter database: `postgresql://…` as libpq reads it, with one host or several.
    /// - Throws: an error whose description is a sentence: the URL cannot be read, or a newer program made the
    ///   database ready. ``DatabaseAway`` where no server takes writes now.
    public convenience init(
        database: String, options: BackendOptions = BackendOptions(),
        clock: @escaping @Sendable () -> Instant,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) throws {
        do {
            try self.init(
                on: PostgreSQLRowStorage(at: database, startedAt: clock()), options: options,
                clock: clock, random: random)
        } catch let error as PostgreSQLError where error.isLostConnection {
            throw DatabaseAway(description: error.description)
        } catch let error as StorageUnavailable {
            throw DatabaseAway(description: error.description)
        }
    }

    /// The version of the libpq that is loaded, such as `15.8`.
    public static var postgreSQLLibraryVersion: String { PostgreSQLConnection.libraryVersion }
}

/// No server of the database takes writes, as during a failover: the same start may succeed later.
public struct DatabaseAway: Error, CustomStringConvertible {
    /// Why, in a sentence.
    public let description: String
}
