import Storage
package import TablesProtocol

/// Rows in SQLite: one file, or nothing but memory, on one connection.
///
/// Writes take its lock before their first read, so what a call has read is still so when it writes.
package final class SQLiteRowStorage: RowStorage {
    package let place = CallPlace.callersThread
    let connection: ConnectionQueue

    /// Opens the database.
    ///
    /// - Parameter path: its file; nil keeps everything in memory.
    /// - Throws: SQLite's error when the file cannot be opened or is none of a backend.
    package init(at path: String? = nil) throws {
        let functions = ScalarFunction.ofLists + [.countedVersion]
        connection =
            if let path {
                try ConnectionQueue.writer(path, functions: functions)
            } else { try ConnectionQueue.inMemory(functions: functions) }
        try connection.transaction(.immediate) { try Schema.create($0) }
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

    /// Runs a write in one transaction.
    /// - Parameter body: what gives nil is rolled back.
    func write<T>(isKept: Bool = true, _ body: (Connection) throws -> T?) throws -> T? {
        try connection.transaction(.immediate) { connection in
            var made: T?
            try connection.savepoint {
                made = try body(connection)
                return isKept && made != nil
            }
            return made
        }
    }
}

// What the serving part asks for.
extension SQLiteRowStorage {
    package var load: StorageLoad? { nil }

    package func check() throws { _ = try effects(after: .max, limit: 1) }

    package func table(_ name: TableName) throws -> StoredTable? {
        try connection.access { try Tables.find($0, name)?.table }
    }

    package func declare(_ name: TableName, _ options: TableOptions) throws {
        try connection.transaction(.immediate) { try Tables.declare($0, name, options) }
    }

    package func rows(in table: TableName) throws -> [Row] {
        try connection.transaction(.deferred) { connection in
            try Tables.find(connection, table).map { try Items.all(connection, $0) } ?? []
        }
    }

    package func get(_ id: String, in table: TableName) throws -> Row? {
        try connection.transaction(.deferred) { connection in
            try Tables.find(connection, table).flatMap { try Items.find(connection, $0, id) }
        }
    }

    package func list(_ query: RowQuery) throws -> RowList {
        try connection.transaction(.deferred) { connection in
            guard let table = try Tables.find(connection, query.table) else {
                return RowList(count: query.counts ? 0 : nil)
            }
            let list = ListSQL(query, table)
            return RowList(
                rows: try list.rows(connection),
                count: query.counts ? try list.count(connection) : nil)
        }
    }

    package func effects(after number: Int64, limit: Int) throws -> [Effect] {
        try connection.access { try Effects.list($0, after: number, limit: limit) }
    }

    package func effectCount(of id: String, in table: TableName) throws -> Int {
        try connection.access { try Effects.count($0, table, id) }
    }

    package func keepLogin(token: String, user: String) throws {
        try connection.access { try LoginTokens.add($0, token: token, user: user) }
    }

    package func user(ofToken token: String) throws -> String? {
        try connection.access { try LoginTokens.user($0, token: token) }
    }

    package func endLogin(token: String?) throws {
        try connection.access { try LoginTokens.remove($0, token: token) }
    }
}
