import GRDB
import GRDBSQLite

// Transactions by statements that stay prepared. GRDB keeps no word of them: whether one is open it
// asks SQLite each time, its stack of savepoints holds only those that it opened itself, and what its
// commit hook notes is forgotten when its own next statement begins.
extension Database {
    /// When a transaction takes its lock.
    enum Beginning: String {
        /// With its first read.
        case deferred = "BEGIN DEFERRED TRANSACTION"
        /// Now, to write.
        case immediate = "BEGIN IMMEDIATE TRANSACTION"
    }

    /// Runs the body in a transaction of its own.
    ///
    /// 1. It is committed when the body returns, unless SQLite has ended it by itself meanwhile, as it
    ///    may after an error that the body took for its own.
    /// 2. Whatever is thrown, by the body or by the commit, it is rolled back, if it is still open.
    ///
    /// - Throws: the first error.
    func transaction<T>(_ beginning: Beginning, _ body: () throws -> T) throws -> T {
        try control(beginning.rawValue)
        do {
            let value = try body()
            guard isInsideTransaction else {
                throw DatabaseError(
                    resultCode: .SQLITE_ABORT, message: "The transaction was aborted.")
            }
            try control("COMMIT TRANSACTION")
            return value
        } catch {
            // A rollback that fails has ended the transaction all the same.
            if isInsideTransaction { try? control("ROLLBACK TRANSACTION") }
            throw error
        }
    }

    /// Begins or ends a transaction or a savepoint.
    func control(_ sql: String) throws { try cachedStatement(sql: sql).control() }

    /// The row id of what was inserted last.
    var insertedRowID: Int64 {
        // Sound as in StatementSteps.swift: whoever has a `Database` stands in its access.
        unsafe sqlite3_last_insert_rowid(sqliteConnection)
    }

    /// How many rows the last statement changed, without those that triggers changed.
    var changedRows: Int { unsafe Int(sqlite3_changes(sqliteConnection)) }
}
