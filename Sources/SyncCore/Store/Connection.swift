import GRDB
import TablesProtocol

/// How connections to a store's file are opened, and what their errors mean.
enum Connection {
    /// The one connection that writes. A commit is on disk before it returns; how long the log is
    /// after it, `log` knows; without it SQLite copies the log by itself.
    ///
    /// No other connection copies the log into the file: SQLite before 3.51.3 may damage the file where
    /// one does while another begins the log anew (sqlite.org/wal.html, "The WAL-reset bug").
    static func writer(_ path: String, log: LogLength? = nil) throws(StoreError) -> DatabaseQueue {
        do {
            // Only the owner reads it; SQLite gives its side files the same mode.
            try StoreFiles.make(path)
            var configuration = configuration()
            configuration.journalMode = .wal
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.writeWithoutTransaction { db in
                // GRDB has set it to NORMAL with the journal mode.
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

    /// An empty database in a file without a name, which SQLite makes in the folder for temporary files
    /// and which is gone with the connection, also where the process ends.
    static func temporary() throws -> DatabaseQueue {
        try DatabaseQueue(path: "", configuration: configuration())
    }

    /// A connection that only reads and belongs to one reader. Read-only: it cannot copy the log into the
    /// file, neither while it is in use nor when it is closed.
    static func reader(
        _ path: String, budget: StatementBudget?
    ) throws -> DatabaseQueue {
        var configuration = configuration(budget)
        configuration.readonly = true
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            if let budget {
                budget.install(on: db)
                try db.execute(sql: "PRAGMA cache_size = -\(StoreLimits.readerCacheKiB)")
            }
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private static func configuration(_ budget: StatementBudget? = nil) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(StoreLimits.busySeconds)
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA synchronous = FULL")
            for function in SQLFunction.all {
                db.add(function: DatabaseFunction(function, spending: budget))
            }
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
        case .SQLITE_NOTADB:
            return .damaged("The file \(path) is not a store, or its beginning is damaged.")
        case .SQLITE_CORRUPT:
            return .damaged(
                "The file \(path) cannot be read as a store: it is damaged, or the disk fails. Look "
                    + "with `understudy doctor` before a backup is restored.")
        default: return StoreError(error)
        }
    }
}
