import GRDB
import Synchronization

/// A read-only connection that is opened when it is first needed. The lock is uncontended as long as
/// each worker has its own.
final class Reader: Sendable {
    private let path: String
    private let budget = StatementBudget()
    private let connection = Mutex<DatabaseQueue?>(nil)
    /// Queries whose statements the connection keeps prepared.
    private let remembered = Mutex<Set<String>>([])

    init(path: String) { self.path = path }

    /// Reads on the calling thread, at most about this many steps of SQLite's machine.
    @available(*, noasync)
    func read<T>(steps: Int, _ body: (Database) throws -> T) throws -> T {
        let queue = try connection.withLock { connection in
            if let connection { return connection }
            let opened = try Connection.reader(path, budget: budget)
            connection = opened
            return opened
        }
        return try queue.unsafeRead { db in
            budget.start(steps: steps)
            return try body(db)
        }
    }

    /// The statement of a query, kept prepared unless too many different ones came.
    func statement(_ db: Database, _ sql: String) throws -> Statement {
        let isRemembered = remembered.withLock { remembered in
            if remembered.contains(sql) { return true }
            if remembered.count >= StoreLimits.rememberedQueries { return false }
            remembered.insert(sql)
            return true
        }
        return try isRemembered ? db.cachedStatement(sql: sql) : db.makeStatement(sql: sql)
    }

    /// Closes the connection once nobody reads on it any more.
    func close() {
        connection.withLock { $0 = nil }
        remembered.withLock { $0 = [] }
    }
}
