import GRDB
import GRDBSQLite
import Synchronization

/// How long a file's write-ahead log is.
///
/// A class, so that SQLite's callback has an address to write to.
final class LogLength: Sendable {
    /// Pages in the log after the last commit.
    let pages = Atomic(0)

    /// Has SQLite note the length after each commit of a connection, which then copies nothing by itself.
    func follow(_ db: Database) {
        // Sound: SQLite calls this inside of commits of the connection, whose ``ConnectionQueue`` holds this
        // object as long as the connection.
        unsafe sqlite3_wal_hook(
            db.sqliteConnection,
            { context, _, _, pages in
                if let context = unsafe context {
                    unsafe Unmanaged<LogLength>.fromOpaque(context).takeUnretainedValue()
                        .pages.store(Int(pages), ordering: .relaxed)
                }
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
