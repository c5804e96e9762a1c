import PostgreSQL
package import TablesProtocol

/// Rows in PostgreSQL, which any number of nodes may share.
///
/// Calls run on the pool's threads and wait there for the server. A connection that is lost, also to a
/// primary that failed, is made anew, and the call begins anew on it.
package final class PostgreSQLRowStorage: RowStorage {
    let pool: PostgreSQLPool
    let hooks: Hooks
    let versions: PostgreSQLItems.Versions

    /// What tests change.
    struct Hooks: Sendable {
        /// How long the statements of a list may take, all together.
        var listMilliseconds = Limits.postgreSQLListMilliseconds
        /// Whether writers of a table wait for one another. Tests show what is missed where they do not.
        var ordersWriters = true
        /// Called when nothing is left but to commit.
        var beforeCommit: @Sendable () -> Void = {}
        /// Called when the commit has been answered. What it throws stands for an answer that was lost.
        var afterCommit: @Sendable () throws -> Void = {}
    }

    package var place: CallPlace { .ownThreads { [pool] work in pool.submit(work) } }

    /// Opens the database and makes its schema ready.
    ///
    /// - Parameters:
    ///   - url: `postgresql://…` as libpq reads it, with one host or several.
    ///   - schema: where all tables of the backend are.
    ///   - countsRows: whether versions count the writes of their row, as those of the captured servers do;
    ///     otherwise the database gives each of them once.
    /// - Throws: an error whose description is a sentence.
    package convenience init(
        at url: String, schema: String = "understudy", countsRows: Bool = false
    ) throws {
        try self.init(at: url, schema: schema, Hooks(), countsRows ? .ofRow : .ofDatabase)
    }

    init(
        at url: String, schema: String, _ hooks: Hooks,
        _ versions: PostgreSQLItems.Versions = .ofDatabase
    ) throws {
        self.versions = versions
        pool = try PostgreSQLPool(url, schema: schema)
        self.hooks = hooks
        try PostgreSQLSchema.migrate(pool, schema: schema)
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

    /// Asks at once, and does not wait for a server that comes back.
    package func check() throws {
        try passing { _ = try pool.withConnection { try $0.run("SELECT 1") } }
    }

    package func table(_ name: TableName) throws -> StoredTable? {
        try calling { try PostgreSQLTables.find($0, name)?.table }
    }

    package func declare(_ name: TableName, _ options: TableOptions) throws {
        try calling { try PostgreSQLTables.make($0, name, options, changing: true) }
    }

    package func rows(in table: TableName) throws -> [Row] {
        try calling { try PostgreSQLItems.all($0, table) }
    }

    package func get(_ id: String, in table: TableName) throws -> Row? {
        try calling { try PostgreSQLItems.find($0, table, id) }
    }

    package func list(_ query: RowQuery) throws -> RowList {
        try passing {
            do {
                return try pool.reading { connection in
                    guard let table = try PostgreSQLTables.find(connection, query.table) else {
                        return RowList(count: query.counts ? 0 : nil)
                    }
                    return try PostgreSQLList(query, table)
                        .rows(connection, milliseconds: hooks.listMilliseconds)
                }
            } catch PostgreSQLError.refused("57014", _) {
                // The server's time-out of a statement: the list would run into it again.
                throw TooMuchWork()
            }
        }
    }

    package func effects(after number: Int64, limit: Int) throws -> [Effect] {
        try calling { try PostgreSQLEffects.list($0, after: number, limit: limit) }
    }

    package func effectCount(of id: String, in table: TableName) throws -> Int {
        try calling { try PostgreSQLEffects.count($0, table, id) }
    }

    package func keepLogin(token: String, user: String) throws {
        _ = try calling { connection in
            try connection.run(
                """
                INSERT INTO logins (digest, user_id) VALUES (\(Self.digest), $2::text)
                ON CONFLICT (digest) DO UPDATE SET user_id = excluded.user_id
                """, [.text(token), .text(user)])
        }
    }

    package func user(ofToken token: String) throws -> String? {
        if token.utf8.contains(0) { return nil }
        return try calling { connection in
            try connection.run(
                "SELECT user_id FROM logins WHERE digest = \(Self.digest)", [.text(token)]
            ).first?.text(0)
        }
    }

    package func endLogin(token: String) throws {
        if token.utf8.contains(0) { return }
        _ = try calling { connection in
            try connection.run("DELETE FROM logins WHERE digest = \(Self.digest)", [.text(token)])
        }
    }

    /// What is kept of a token.
    private static let digest = "sha256(convert_to($1::text, 'UTF8'))"

    /// Runs one statement, which may be repeated.
    private func calling<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
        try passing { try pool.repeating(body) }
    }

    /// Runs a call, and makes ``StorageUnavailable`` of errors that do not last.
    func passing<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as PostgreSQLError where error.isPassing {
            throw StorageUnavailable(reason: error.description)
        }
    }
}
