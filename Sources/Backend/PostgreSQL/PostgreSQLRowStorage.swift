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

    /// The parts that tests change.
    struct Hooks: Sendable {
        /// The most milliseconds that the statements of a list may take, all together.
        var listMilliseconds = Limits.postgreSQLListMilliseconds
        /// Whether writers of a table wait for one another. Tests show what is missed where they do not.
        var ordersWriters = true
        /// Called when nothing is left but to commit.
        var beforeCommit: @Sendable () -> Void = {}
        /// Called when the commit has been answered. What it throws stands for an answer that was lost.
        var afterCommit: @Sendable () throws -> Void = {}
    }

    package var callThreads: CallThreads { .ownThreads { [pool] work in pool.submit(work) } }

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
        try runningOneStatement { try PostgreSQLItems.find($0, table, id) }
    }

    package func list(_ query: RowQuery) throws -> RowList {
        try mappingTransientErrors {
            do {
                return try pool.inReadTransaction { connection in
                    guard let table = try PostgreSQLTables.find(connection, query.table) else {
                        return RowList(count: query.counts ? 0 : nil)
                    }
                    return try PostgreSQLList(query, table)
                        .rows(connection, milliseconds: hooks.listMilliseconds)
                }
            } catch let error as PostgreSQLError where error.isCancelledStatement {
                // The server's time-out of a statement: the list would run into it again.
                throw TooMuchWork()
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
    private func runningOneStatement<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws
        -> Value
    {
        try mappingTransientErrors { try pool.retrying(body) }
    }

    /// Runs a call, and makes ``StorageUnavailable`` of errors that do not last.
    func mappingTransientErrors<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as PostgreSQLError where error.isTransient {
            throw StorageUnavailable(reason: error.description)
        }
    }
}
