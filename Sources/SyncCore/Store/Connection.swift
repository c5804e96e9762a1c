import CWriteAheadLog
import GRDB
import TablesProtocol

/// How connections to a store's file are opened, and what their errors mean.
enum Connection {
    /// The one connection that writes. A commit is on disk before it returns; how long the log is
    /// after it, `log` knows; without it the writer copies the log itself.
    static func writer(_ path: String, log: LogLength? = nil) throws(StoreError) -> DatabaseQueue {
        do {
            // Only the owner reads it; SQLite gives its side files the same mode.
            try StoreFiles.make(path)
            var configuration = configuration()
            configuration.journalMode = .wal
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = FULL")
                try db.execute(sql: "PRAGMA cache_size = -\(StoreLimits.writerCacheKiB)")
                log?.follow(db)
                let journal = try String.fetchOne(db, sql: "PRAGMA journal_mode")
                let synchronous = try Int.fetchOne(db, sql: "PRAGMA synchronous")
                guard journal == "wal", synchronous == 2 else {
                    throw StoreError.cannotOpen(
                        "SQLite refuses WAL with full synchronisation for \(path).")
                }
            }
            return queue
        } catch {
            throw opening(error, path)
        }
    }

    /// A connection that copies the log into the file, beside the writer.
    static func checkpointer(_ path: String) throws -> DatabaseQueue {
        try DatabaseQueue(path: path, configuration: configuration())
    }

    /// A connection that only reads and belongs to one reader.
    static func reader(
        _ path: String, budget: StatementBudget?
    ) throws -> DatabaseQueue {
        var configuration = configuration()
        configuration.readonly = true
        if let budget {
            configuration.prepareDatabase { db in
                budget.install(on: db)
                try db.execute(sql: "PRAGMA cache_size = -\(StoreLimits.readerCacheKiB)")
            }
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private static func configuration() -> Configuration {
        // Whatever becomes of it: SQLite works without, only slower.
        _ = write_ahead_log_set_up()
        var configuration = Configuration()
        configuration.busyMode = .timeout(StoreLimits.busySeconds)
        configuration.prepareDatabase { db in
            for function in SQLFunction.all { db.add(function: DatabaseFunction(function)) }
        }
        return configuration
    }

    /// What an error while opening a file means.
    static func opening(_ error: any Error, _ path: String) -> StoreError {
        if let error = error as? StoreError { return error }
        guard let error = error as? DatabaseError else {
            return .cannotOpen("The store \(path) cannot be opened: \(error)")
        }
        switch error.resultCode {
        case .SQLITE_NOTADB, .SQLITE_CORRUPT:
            return .damaged("The file \(path) is not a store or is damaged: restore a backup.")
        default: return StoreError(error)
        }
    }
}
